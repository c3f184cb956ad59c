// Hostile text in turns is escaped: it runs no script, sends no request, breaks no layout.
import assert from "node:assert/strict";
import { fits, until } from "../window.mjs";

export default async function ({ browser, stage, ask }) {
  // Check both the live stream and the rendered page.
  const watching = await browser.open(`/debates/${stage.id}`);
  await watching.page.waitForSelector(".connection[data-state=live]");
  await until("it is being said", async () =>
    (await watching.page.textContent("[data-pending=true] .live")).includes("<script>"));
  assert.equal(await watching.page.$$eval(".live *", (inside) => inside.length), 0, "words are text");
  await ask("finish");
  await until("the end is told", () => watching.page.$(".connection[data-state=ended]"));
  const reading = await browser.open(`/debates/${stage.id}`, { viewport: { width: 360, height: 740 } });
  const replaying = await browser.open(`/debates/${stage.id}?at=2`);
  await replaying.page.click(".back");
  await replaying.page.waitForSelector(".replay[data-away=false]");
  for (const window of [watching, reading, replaying]) {
    const { page } = window;
    const found = await page.evaluate(() => ({
      ran: globalThis.ran,
      scripts: document.querySelectorAll("script:not([src])").length,
      active: document.querySelectorAll("#turns :is(script,style,link,iframe,object,embed,img,svg,form,input,video,base)")
        .length,
      handlers: [...document.querySelectorAll("main *")].filter((element) =>
        [...element.attributes].some(({ name }) => name.startsWith("on") || name === "style" || name === "srcdoc")).length,
      schemes: [...new Set([...document.querySelectorAll("a[href]")].map((link) => link.protocol))].sort(),
      ids: [...document.querySelectorAll("[id]")].map(({ id }) => id).length -
        new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)).size,
      opener: [...document.querySelectorAll("#turns a[href^='http']")].filter(
        (link) => link.origin !== location.origin && !/noopener/.test(link.rel) && link.target === "_blank").length,
    }));
    assert.equal(found.ran, undefined, "nothing has run");
    assert.deepEqual(
      [found.scripts, found.active, found.handlers, found.ids, found.opener],
      [0, 0, 0, 0, 0],
    );
    assert.ok(found.schemes.every((scheme) => ["http:", "https:", "mailto:"].includes(scheme)), String(found.schemes));
    // The text itself is still readable.
    assert.ok((await page.textContent("#turns")).includes("<script>"));
    await fits(page);
    // Hovering over links must not run a handler.
    for (const link of await page.$$("#turns a")) await link.hover({ force: true }).catch(() => undefined);
    window.fine();
  }
  await reading.shot("hostile-phone", true);
  await watching.shot("hostile", true);
}
