// Timers of the event stream's client (src/web/ts/feed.ts), with a fake browser: the delays before it
// reconnects, and the time after which a hidden tab disconnects. Needs no browser.
import assert from "node:assert/strict";
import { build } from "esbuild";
import { fileURLToPath } from "node:url";

const feed = fileURLToPath(new URL("../../src/web/ts/feed.ts", import.meta.url));
const { outputFiles } = await build({ entryPoints: [feed], bundle: true, format: "esm", write: false });

const delays = [];
const sources = [];
let timers = new Map();
let timerCount = 0;
globalThis.window = Object.assign(new EventTarget(), {
  setTimeout(run, delay) {
    delays.push(delay);
    timerCount += 1;
    timers.set(timerCount, run);
    return timerCount;
  },
  clearTimeout: (id) => timers.delete(id),
});
globalThis.document = Object.assign(new EventTarget(), { hidden: false });
globalThis.EventSource = class extends EventTarget {
  constructor() {
    super();
    sources.push(this);
  }
  close() {
    this.closed = true;
  }
};
// With this number, the jitter is zero.
Math.random = () => 0.5;

/** Runs every timer that is due, whatever its delay. */
function runTimers() {
  const due = [...timers.values()];
  timers = new Map();
  for (const run of due) run();
}

const { LiveFeed } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
const listener = { onUpdate() {}, onLiveText() {}, onConnection() {} };
new LiveFeed("/events", 0, listener);

// Exponential backoff from 400 ms to 10 s.
for (let attempt = 0; attempt < 8; attempt += 1) {
  sources.at(-1).dispatchEvent(new Event("error"));
  runTimers();
}
assert.deepEqual(delays.splice(0), [400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
assert.equal(sources.length, 9, "every attempt connects once");

// A connection resets it.
sources.at(-1).dispatchEvent(new Event("open"));
sources.at(-1).dispatchEvent(new Event("error"));
runTimers();
assert.deepEqual(delays.splice(0), [400]);

// A hidden tab disconnects after 20 s, and not before.
document.hidden = true;
document.dispatchEvent(new Event("visibilitychange"));
assert.deepEqual(delays.splice(0), [20_000]);
assert.ok(!sources.at(-1).closed);
runTimers();
assert.ok(sources.at(-1).closed);
