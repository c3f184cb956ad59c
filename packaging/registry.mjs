// Validates the release metadata, and fills in the hashes for the MCP registry.
//
//     node packaging/registry.mjs check OWNER/REPOSITORY TAG     validate versions and URLs
//     node packaging/registry.mjs fill FOLDER > server.json      add the hash of every bundle
//
// Any mismatch is an error, because clients would refuse such a release.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const read = (path) => readFileSync(join(root, path), "utf8");
const fail = (why) => {
  console.error(`registry.mjs: ${why}`);
  process.exit(1);
};

const server = JSON.parse(read("server.json"));
const manifest = JSON.parse(read("packaging/mcpb/manifest.json"));
const version = /^version = "(.*)"$/m.exec(read("Cargo.toml"))[1];

function check(repository, tag) {
  if (tag !== `v${version}`) fail(`the tag is ${tag}, Cargo.toml is of version ${version}`);
  for (const [path, stated] of [["server.json", server], ["packaging/mcpb/manifest.json", manifest]]) {
    if (stated.version !== version) fail(`${path} is of version ${stated.version}, Cargo.toml of ${version}`);
  }
  const here = `https://github.com/${repository}`;
  const there = server.repository.url;
  if (there !== here || manifest.homepage !== here || server.name !== `io.github.${repository}`) {
    fail(`server.json and packaging/mcpb/manifest.json name ${there}; replace it there by ${here}, in every line`);
  }
}

function fill(folder) {
  const bundles = new Set(readdirSync(folder).filter((name) => name.endsWith(".mcpb")));
  for (const item of server.packages) {
    const name = basename(item.identifier);
    const place = `${server.repository.url}/releases/download/v${version}/${name}`;
    if (item.version !== version || item.identifier !== place) fail(`${item.identifier} will not be there, but ${place}`);
    if (!bundles.delete(name)) fail(`${name} is not in ${folder}`);
    item.fileSha256 = createHash("sha256").update(readFileSync(join(folder, name))).digest("hex");
  }
  if (bundles.size > 0) fail(`server.json does not list ${[...bundles].join(", ")}`);
  console.log(JSON.stringify(server, null, 2));
}

const [task, ...rest] = process.argv.slice(2);
if (task === "check" && rest.length === 2) check(...rest);
else if (task === "fill" && rest.length === 1) fill(...rest);
else {
  console.error("usage: node packaging/registry.mjs check OWNER/REPOSITORY TAG | fill FOLDER");
  process.exit(2);
}
