// Reconnect: the server is killed and restarted, and no turn is lost or duplicated.
import assert from "node:assert/strict";
import { said, until } from "../window.mjs";

export default async function ({ browser, stage, ask }) {
  const window = await browser.open(`/debates/${stage.id}`);
  const { page } = window;
  await page.waitForSelector(".connection[data-state=live]");
  // Record every turn that is added to the transcript.
  await page.evaluate(() => {
    globalThis.came = [...document.querySelectorAll("#turns > li > [id]")].map((turn) => turn.id);
    new MutationObserver((changes) => {
      for (const change of changes) {
        for (const added of change.addedNodes) {
          if (added instanceof HTMLLIElement) globalThis.came.push(added.querySelector("[id]").id);
        }
      }
    }).observe(document.getElementById("turns"), { childList: true });
  });
  await until("somebody is heard", () => page.$("[data-pending=true] .live:not(:empty)"));
  await ask("kill");
  await page.waitForSelector(".connection[data-state=reconnecting]");
  await window.shot("reconnecting");
  await ask("happens meanwhile");
  await ask("restart");
  await page.waitForSelector(".connection[data-state=live]");
  await until("what has happened is told", () => page.$("#turns article:not([data-pending])"));
  await ask("finish");
  await until("the end is told", () => page.$(".connection[data-state=ended]"));
  const ids = await said(page);
  const came = await page.evaluate(() => globalThis.came);
  assert.equal(new Set(ids).size, ids.length, "nothing is there twice");
  window.fine();
  return { ids, came };
}
