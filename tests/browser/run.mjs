// Runs one scenario in a real browser: node run.mjs NAME. Protocol: JSON lines. The first line on
// stdin is the config. A scenario writes a request to stdout and reads the response from stdin. The
// last line on stdout is its result.
import { createInterface } from "node:readline";
import { launch } from "./window.mjs";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const heard = async () => JSON.parse((await lines.next()).value);
const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const stage = await heard();
const ask = async (what, more = {}) => {
  tell({ ask: what, ...more });
  return heard();
};
const { default: play } = await import(`./scenarios/${process.argv[2]}.mjs`);
const browser = await launch(stage);
try {
  const seen = await play({ browser, stage, ask, url: (path) => new URL(path, stage.url).href });
  tell({ seen: seen ?? {} });
} finally {
  await browser.close();
}
process.exit(0);
