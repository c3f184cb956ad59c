// Preferences: system color scheme and reduced motion apply, and the user's choice overrides them.
import assert from "node:assert/strict";

export default async function ({ browser, stage }) {
  const dark = await browser.open(`/debates/${stage.id}`, { colorScheme: "dark", reducedMotion: "reduce" });
  const { page } = dark;
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const night = await paper();
  assert.ok(sum(night) < 150, `dark is dark: ${night}`);
  const moving = () => page.evaluate(() => document.getAnimations().length);
  assert.equal(await moving(), 0, "nothing moves");
  await page.click(".theme");
  const day = await paper();
  assert.ok(sum(day) > 600, `light is light: ${day}`);
  await page.reload();
  assert.equal(await paper(), day, "a wish is remembered");
  await page.click(".theme");
  await page.reload();
  assert.equal(await paper(), night);
  assert.equal(await page.evaluate(() => localStorage.length), 0, "whoever follows the system is not remembered");

  // Single-key shortcuts can be disabled.
  await page.click("header > .help");
  await page.uncheck("dialog input[type=checkbox]");
  await page.click("dialog .close");
  await page.keyboard.press("?");
  assert.equal(await page.$("dialog[open]"), null);

  // The first focusable element is a skip link to the main content.
  await page.reload();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.equal(new URL(page.url()).hash, `#${await page.$eval("main", (main) => main.id)}`);
  dark.fine();
}

const sum = (color) => color.match(/\d+/g).slice(0, 3).reduce((all, part) => all + Number(part), 0);
