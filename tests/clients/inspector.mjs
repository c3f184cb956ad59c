// Plays a duel with the command line of the MCP Inspector. Each call is a process of its own that
// starts a server of its own, so nothing the duel needs may live in a server's memory.
//
// `node inspector.mjs DEBATE`

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Duel, expect } from "./duel.mjs";

const INSPECTOR = fileURLToPath(
  new URL("./node_modules/@modelcontextprotocol/inspector/cli/build/cli.js", import.meta.url),
);
const server = [process.argv[2], "mcp"];

async function inspect(method, ...options) {
  const command = [INSPECTOR, "--cli", ...server, "--method", method, ...options];
  const env = { ...process.env, NODE_NO_WARNINGS: "1" };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, command, { env });
  expect(stderr === "", `${method}: the inspector says: ${stderr}`);
  return JSON.parse(stdout);
}

// The inspector turns a value into what the tool's input schema says: JSON where it says object.
function pairs(option, args) {
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.entries(args).flatMap(([key, value]) => [option, `${key}=${text(value)}`]);
}

const duel = new Duel({
  list: () => inspect("tools/list"),
  call: (name, args) =>
    inspect("tools/call", "--tool-name", name, ...pairs("--tool-arg", args)),
  read: (uri) => inspect("resources/read", "--uri", uri),
  prompt: (name, args) =>
    inspect("prompts/get", "--prompt-name", name, ...pairs("--prompt-args", args)),
});
// It does not tell which version of the protocol it agreed on.
console.log(JSON.stringify({ client: "inspector", protocol: null, ...(await duel.play()) }));
