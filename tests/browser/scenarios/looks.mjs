// Every page in light, dark and phone layout: accessible, within the viewport, with a screenshot.
import assert from "node:assert/strict";
import { accessible } from "../axe.mjs";
import { fits } from "../window.mjs";

const WAYS = [
  { name: "light", colorScheme: "light" },
  { name: "dark", colorScheme: "dark" },
  { name: "phone", colorScheme: "light", viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
];

export default async function ({ browser, stage }) {
  const papers = {};
  for (const { name: way, ...options } of WAYS) {
    for (const [name, path] of Object.entries(stage.pages)) {
      const window = await browser.open(path, options);
      const { page } = window;
      if (name === "debate") await page.waitForSelector(".replay");
      await accessible(page, `${name}, ${way}`);
      await fits(page);
      assert.equal((await page.$$("h1")).length, 1, `${name} has one heading above all`);
      papers[way] ??= await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      await window.shot(`${name}-${way}`, true);
      window.fine();
      await window.close();
    }
  }
  assert.notEqual(papers.light, papers.dark);
  return { papers };
}
