// The archive page: list all debates, search in any language, open a result.
import assert from "node:assert/strict";

export default async function ({ browser, stage }) {
  const window = await browser.open("/");
  const { page } = window;
  const listed = () => page.$$eval("main a[href^='/debates/']", (links) =>
    [...new Set(links.map((link) => new URL(link.href).pathname.split("/")[2]))].sort());
  assert.deepEqual(await listed(), [...stage.ids].sort(), "all of them");
  // Search with the keyboard only.
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.type), "search");
  await page.keyboard.type(stage.search.words);
  await page.keyboard.press("Enter");
  await page.waitForURL(/[?&]q=/);
  assert.deepEqual(await listed(), [stage.search.id]);
  await window.shot("search");
  await page.fill("input[type=search]", stage.chinese.words);
  await page.press("input[type=search]", "Enter");
  await page.waitForURL((url) => url.searchParams.get("q") === stage.chinese.words);
  assert.deepEqual(await listed(), [stage.chinese.id]);
  await page.fill("input[type=search]", "zzzqqq");
  await page.press("input[type=search]", "Enter");
  await page.waitForURL(/zzzqqq/);
  assert.deepEqual(await listed(), []);
  await window.shot("nothing-found");
  await page.goBack();
  await page.click("main a[href^='/debates/'] >> nth=0");
  await page.waitForSelector("#turns");
  window.fine();
}
