// Without scripts everything can be read, searched and gone back to.
import assert from "node:assert/strict";

export default async function ({ browser, stage }) {
  const window = await browser.open(`/debates/${stage.id}`, { javaScriptEnabled: false });
  const { page } = window;
  const all = await page.$$("#turns > li");
  assert.ok(all.length >= 4, "the transcript is there");
  assert.ok((await page.textContent("#turns")).includes(stage.words));
  assert.ok(await page.isVisible("#panel-verdict"));
  await window.shot("plain", true);
  // Back in time by links alone.
  await page.click("#replay a >> nth=0");
  assert.match(page.url(), /[?&]at=\d+/);
  assert.ok((await page.$$("#turns > li")).length < all.length, "less had been said");
  // And the archive by a form alone.
  await page.goto(new URL("/", stage.url).href);
  await page.fill("input[type=search]", stage.words);
  await page.press("input[type=search]", "Enter");
  assert.ok((await page.textContent("main")).includes(stage.topic));
  window.fine();
  return { turns: all.length };
}
