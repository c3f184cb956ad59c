// Without JavaScript: transcript, search and replay still work.
import assert from "node:assert/strict";

export default async function ({ browser, stage }) {
  const window = await browser.open(`/debates/${stage.id}`, { javaScriptEnabled: false });
  const { page } = window;
  const all = await page.$$("#turns > li");
  assert.ok(all.length >= 4, "the transcript is there");
  assert.ok((await page.textContent("#turns")).includes(stage.words));
  assert.ok(await page.isVisible("#panel-verdict"));
  await window.shot("plain", true);
  // Replay with links only.
  await page.click("#replay a >> nth=0");
  assert.match(page.url(), /[?&]at=\d+/);
  assert.ok((await page.$$("#turns > li")).length < all.length, "less had been said");
  // Search with a form only.
  await page.goto(new URL("/", stage.url).href);
  await page.fill("input[type=search]", stage.words);
  await page.press("input[type=search]", "Enter");
  assert.ok((await page.textContent("main")).includes(stage.topic));
  window.fine();
  return { turns: all.length };
}
