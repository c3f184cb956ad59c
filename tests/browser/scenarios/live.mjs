// A debate that another process plays is watched from its first words to its verdict.
import assert from "node:assert/strict";
import { said, until } from "../window.mjs";

export default async function ({ browser, stage, ask }) {
  const window = await browser.open(`/debates/${stage.id}`);
  const { page } = window;
  await page.waitForSelector(".connection[data-state=live]");
  // Words come while they are spoken, and more of them after a while.
  const heard = new Map();
  await until("words come one after the other", async () => {
    const now = await page.evaluate(() => {
      const turn = document.querySelector("[data-pending=true]:has(.live:not(:empty))");
      return turn && [turn.id, turn.querySelector(".live").textContent];
    });
    if (!now) return false;
    const [turn, words] = now;
    const before = heard.get(turn) ?? words;
    heard.set(turn, words);
    assert.ok(words.startsWith(before), "what was heard stays");
    return words.length > before.length;
  });
  await page.keyboard.press("e");
  await window.shot("live");
  await ask("finish");
  await until("the end is told", () => page.$(".connection[data-state=ended]"), 30);
  const ids = await said(page);
  assert.equal(new Set(ids).size, ids.length, "nothing is there twice");
  assert.equal(await page.$("[data-pending=true]"), null, "nobody speaks any more");
  assert.ok(await page.isVisible("#panel-verdict"), "the verdict is there");
  await until("what was heard is told to those who do not see", () => page.evaluate(
    () => (document.querySelector("#announce")?.textContent ?? "").length > 0,
  ));
  // What came bit by bit is what a reader who comes now is shown.
  const grown = await page.$eval("#turns", (turns) => turns.textContent);
  const later = await browser.open(`/debates/${stage.id}`);
  const fresh = await later.page.$eval("#turns", (turns) => turns.textContent);
  assert.equal(timeless(grown), timeless(fresh));
  await later.shot("debate", true);
  later.fine();
  window.fine();
  return { ids };
}

/** Times are told as they are now. */
const timeless = (text) => text.replace(/just now|\d+ (second|minute)s? ago|[\d-]+ [\d:]+ UTC/g, "…").replace(/\s+/g, " ");
