// Accessibility check with axe-core: no violation of any rule.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import assert from "node:assert/strict";

const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function accessible(page, where) {
  // The page's CSP allows only its own scripts. `evaluate` runs in the debugger and bypasses it.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const told = violations.map(({ id, nodes }) => ({
    id,
    nodes: nodes.slice(0, 4).map(({ html, failureSummary }) => `${html.slice(0, 160)} – ${failureSummary}`),
  }));
  assert.deepEqual(told, [], `${where} is accessible`);
}
