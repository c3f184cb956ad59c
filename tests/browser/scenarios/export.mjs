// HTML export: a single file that renders like the page and sends no request.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { accessible } from "../axe.mjs";
import { fits } from "../window.mjs";

export default async function ({ browser, stage, url }) {
  const online = await browser.open(`/debates/${stage.id}`);
  const answer = await online.page.request.get(url(`/debates/${stage.id}/export`));
  assert.equal(answer.status(), 200);
  assert.match(answer.headers()["content-disposition"] ?? "", /attachment/);
  const file = join(stage.folder, "export.html");
  writeFileSync(file, await answer.body());
  for (const colorScheme of ["light", "dark"]) {
    const window = await browser.open(undefined, { colorScheme, offline: true });
    const { page } = window;
    await page.goto(pathToFileURL(file).href);
    const asked = window.requests.filter((request) => request !== pathToFileURL(file).href);
    assert.deepEqual(asked, [], "nothing is fetched");
    assert.ok((await page.textContent("#turns")).includes(stage.words));
    // Styles are inlined.
    const looks = (at) => at.$eval("#turns article[data-side=pro]", (turn) => getComputedStyle(turn).borderInlineStartWidth);
    assert.equal(await looks(page), await looks(online.page));
    const away = await page.$$eval("[src],link[href]", (elements) => elements.length);
    assert.equal(away, 0);
    await accessible(page, `export, ${colorScheme}`);
    await page.setViewportSize({ width: 360, height: 740 });
    await fits(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    await window.shot(`export-${colorScheme}`, true);
    // Print styles: dark text on a light background, nothing cut off.
    await page.emulateMedia({ media: "print" });
    await window.shot(`print-${colorScheme}`, true);
    await page.emulateMedia({ media: "screen" });
    window.fine();
    await window.close();
  }
  online.fine();
}
