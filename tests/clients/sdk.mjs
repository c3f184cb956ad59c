// Plays a duel with the client of the TypeScript SDK, which compiles every output schema and warns
// about what it does not understand in one, and puts up with lines that are no messages.
//
// `node sdk.mjs DEBATE`

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Duel, TOPIC, expect } from "./duel.mjs";

const complaints = [];
console.warn = (...words) => complaints.push(words.join(" "));

const transport = new StdioClientTransport({
  command: process.argv[2],
  args: ["mcp"],
  env: process.env,
});
// The transport is told the version both sides agreed on, the client does not keep it.
let protocol;
transport.setProtocolVersion = (version) => (protocol = version);

const client = new Client({ name: "debate-clients", version: "1.0.0" });
client.onerror = (error) => complaints.push(error.message);
await client.connect(transport);
const duel = new Duel({
  list: () => client.listTools(),
  call: (name, args) => client.callTool({ name, arguments: args }),
  read: (uri) => client.readResource({ uri }),
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
});
try {
  const played = await duel.play();
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "debate" },
    argument: { name: "topic", value: TOPIC.slice(0, 6) },
  });
  expect(completion.values.includes(TOPIC), "the topic of before is not suggested");
  expect(complaints.length === 0, `the SDK complains: ${complaints.join("; ")}`);
  console.log(JSON.stringify({ client: "typescript sdk", protocol, ...played }));
} finally {
  await client.close();
}
