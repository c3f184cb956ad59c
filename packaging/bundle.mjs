// Packs one built binary as an MCP bundle (`.mcpb`).
//
//     node packaging/bundle.mjs TARGET BINARY OUTPUT.mcpb
//
// The manifest in packaging/mcpb covers every platform. A bundle holds one binary, so its manifest
// lists only that platform. Otherwise clients would offer it where it cannot run.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
// Version and dependencies are pinned by the lock file in tests/clients.
const mcpb = join(root, "tests/clients/node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

const [target, binary, output] = process.argv.slice(2);
if (!output) {
  console.error("usage: node packaging/bundle.mjs TARGET BINARY OUTPUT.mcpb");
  process.exit(2);
}
const platforms = { linux: "linux", darwin: "darwin", windows: "win32" };
const system = Object.keys(platforms).find((name) => target.includes(name));
if (!system) {
  console.error(`bundle.mjs: ${target} is no target of ours`);
  process.exit(2);
}
const platform = platforms[system];

const manifest = JSON.parse(readFileSync(join(root, "packaging/mcpb/manifest.json"), "utf8"));
const start = manifest.server.mcp_config;
Object.assign(start, start.platform_overrides[platform]);
delete start.platform_overrides;
manifest.server.entry_point = start.command.replace("${__dirname}/", "");
manifest.compatibility.platforms = [platform];

const stage = mkdtempSync(join(tmpdir(), "debate-bundle-"));
try {
  const program = join(stage, manifest.server.entry_point);
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(binary, program);
  // The bundle stores file modes, and archives built on Windows lack the executable bit.
  chmodSync(program, 0o755);
  copyFileSync(join(root, "LICENSE"), join(stage, "LICENSE"));
  writeFileSync(join(stage, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync(process.execPath, [mcpb, "pack", stage, resolve(output)], { stdio: "inherit" });
} finally {
  rmSync(stage, { recursive: true, force: true });
}
