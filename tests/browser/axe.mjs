// Accessibility, as far as a program can tell: no violation of any rule.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function accessible(page, where) {
  // The policy of the page allows no script but its own; a debugger is not bound by it.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const told = violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.slice(0, 4).map(({ html, failureSummary }) => `${html.slice(0, 160)} – ${failureSummary}`),
  }));
  assert.deepEqual(told, [], `${where} is accessible`);
}
