// Live view: a debate that runs in another process, from the first words to the verdict.
import assert from "node:assert/strict";
import { said, until } from "../window.mjs";

export default async function ({ browser, stage, ask }) {
  const window = await browser.open(`/debates/${stage.id}`);
  const { page } = window;
  await page.waitForSelector(".connection[data-state=live]");
  // Partial text of the current turn, which grows.
  const words = () => page.evaluate(() => document.querySelector("[data-pending=true] .live")?.textContent);
  // The stream redactor may buffer the last words, as a secret could start in them.
  const whole = stage.first + stage.second;
  await until("words are heard", async () => ((await words()) ?? "").length > stage.first.length / 2);
  assert.ok(whole.startsWith(await words()));
  await ask("go on");
  await until("more of them are heard", async () => (await words()).length > stage.first.length);
  assert.ok(whole.startsWith(await words()));
  await page.keyboard.press("e");
  await window.shot("live");
  await ask("finish");
  await until("the end is told", () => page.$(".connection[data-state=ended]"));
  const ids = await said(page);
  assert.equal(new Set(ids).size, ids.length, "nothing is there twice");
  assert.equal(await page.$("[data-pending=true]"), null, "nobody speaks any more");
  assert.ok(await page.isVisible("#panel-verdict"), "the verdict is there");
  await until("what was heard is told to those who do not see", () => page.evaluate(
    () => (document.querySelector("#announce")?.textContent ?? "").length > 0,
  ));
  // The live transcript equals that of a freshly loaded page.
  const grown = await page.$eval("#turns", (turns) => turns.textContent);
  const later = await browser.open(`/debates/${stage.id}`);
  const fresh = await later.page.$eval("#turns", (turns) => turns.textContent);
  assert.equal(timeless(grown), timeless(fresh));
  await later.shot("debate", true);
  later.fine();
  window.fine();
  return { ids };
}

/** Masks times, which depend on the current time. */
const timeless = (text) => text.replace(/just now|\d+ (second|minute)s? ago|[\d-]+ [\d:]+ UTC/g, "…").replace(/\s+/g, " ");
