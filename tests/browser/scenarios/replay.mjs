// Replay: go to any moment by mouse or keyboard, or play it.
import assert from "node:assert/strict";
import { said, until } from "../window.mjs";

export default async function ({ browser, stage }) {
  const window = await browser.open(`/debates/${stage.id}`);
  const { page } = window;
  const all = await said(page);
  const range = page.locator(".replay input[type=range]");
  const many = async (what, wanted) => until(what, async () => wanted((await said(page)).length));

  // By keyboard: to the start, then one step forward.
  await range.focus();
  await page.keyboard.press("Home");
  await many("nothing had been said", (length) => length <= 1);
  assert.match(page.url(), /[?&]at=\d+/, "a moment can be sent to somebody");
  assert.equal(await page.isVisible("#panel-verdict"), false, "nobody knew the verdict");
  await page.keyboard.press("ArrowRight");
  await until("the label says where", async () => (await page.textContent(".where")).startsWith("2 of "));
  await window.shot("replay");

  // By mouse: to the middle.
  const box = await range.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await many("half was said", (length) => length > 1 && length < all.length);

  // Loading the URL of the moment shows the same transcript.
  await until("the address is that of the moment", async () => {
    const shown = await page.$eval("#turns > li:last-child > [id]", (turn) => Number(turn.dataset.seq));
    return shown <= Number(new URL(page.url()).searchParams.get("at"));
  });
  const middle = await said(page);
  const other = await browser.open(page.url());
  assert.deepEqual(await said(other.page), middle);
  await other.page.click(".back");
  await until("at the end", async () => (await said(other.page)).length === all.length);
  other.fine();
  await other.close();

  // Play and pause with the space key.
  await page.selectOption(".replay select", "0.5");
  await range.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Space");
  await page.waitForSelector(".play[data-playing=true]");
  await page.keyboard.press("Space");
  await page.waitForSelector(".play[data-playing=false]");
  await page.selectOption(".replay select", "64");
  await page.click(".play");
  await many("all of it was played", (length) => length === all.length);
  await until("it stops at the end", () => page.$(".play[data-playing=false]"));
  await page.click(".back");
  await page.waitForSelector(".replay[data-away=false]");
  assert.deepEqual(await said(page), all);
  assert.doesNotMatch(page.url(), /at=/);

  // Keyboard shortcuts: next turn, previous turn, help.
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  const turns = await page.$$eval("#turns article", (articles) => articles.map((article) => article.id));
  assert.equal(await page.evaluate(() => document.activeElement.id), turns[1]);
  await page.keyboard.press("k");
  assert.equal(await page.evaluate(() => document.activeElement.id), turns[0]);
  await page.keyboard.press("?");
  await page.waitForSelector("dialog[open]");
  await window.shot("keys");
  await page.keyboard.press("Escape");
  window.fine();
  return { turns: all.length };
}
