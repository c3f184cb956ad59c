// Actions on the page: a user with the token can act, any other request is refused.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { until } from "../window.mjs";

export default async function ({ browser, stage, ask, url }) {
  // Without the token there is no form, and a forged request is refused.
  const stranger = await browser.open(`/debates/${stage.id}`);
  assert.equal(await stranger.page.$("#panel-actions form"), null);
  await stranger.shot("stranger");
  for (const [action, form] of [["remark", { text: "let me in" }], ["pause", {}], ["verdict", {}]]) {
    for (const headers of [{}, { origin: "http://evil.example" }, { accept: "application/json" }]) {
      const answer = await stranger.page.request.post(url(`/debates/${stage.id}/actions/${action}`), { form, headers });
      assert.ok([401, 403].includes(answer.status()), `${action} is refused: ${answer.status()}`);
    }
  }

  // The owner opens the URL that the program printed. Afterwards the URL has no token.
  const owner = await browser.open(stage.enter);
  const { page } = owner;
  assert.doesNotMatch(page.url(), /token=/);
  await page.goto(url(`/debates/${stage.id}`));
  await page.waitForSelector("#panel-actions form.remark");
  await owner.shot("owner");

  // The same sign-in URL works when a local HTML file redirects to it.
  const file = join(stage.folder, "enter.html");
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${stage.enter}&next=${stage.id}">`);
  const led = await browser.open();
  await led.page.goto(pathToFileURL(file).href);
  await led.page.waitForSelector("#panel-actions form.remark");
  await led.close();
  rmSync(file);

  // A request without the page's CSRF token is refused, even with the cookie.
  const forged = await page.request.post(url(`/debates/${stage.id}/actions/remark`), { form: { text: "forged" } });
  assert.equal(forged.status(), 403);

  // A remark is sent without a page load. Other viewers see it, too.
  await page.evaluate(() => (globalThis.stayed = true));
  await page.fill("#remark", "Mind the backups, please. <script>ran = 1</script>");
  await page.click("form.remark button");
  await until("the remark is told", () => page.$("#turns .remark"));
  assert.match(await page.textContent("#turns .remark"), /Mind the backups/);
  assert.equal(await page.inputValue("#remark"), "", "what was sent is not kept");
  assert.equal(await page.evaluate(() => globalThis.stayed), true);
  await until("the stranger reads it", () => stranger.page.$("#turns .remark"));
  await ask("is it recorded?");

  // Live updates keep the draft in the text field, and the focus.
  await page.fill("#remark", "half written");
  await page.click("form.pause button");
  await page.focus("#remark");
  await ask("does it pause?");
  await until("the page says so", async () => /paused/i.test(await page.textContent("#panel-status")));
  assert.equal(await page.inputValue("#remark"), "half written");
  assert.equal(await page.evaluate(() => document.activeElement.id), "remark");
  await owner.shot("paused");

  // Request the verdict now.
  await page.click("form.verdict button");
  await until("it goes to its ending", async () => (await page.$("form.verdict")) === null);
  // A pause lasts until a user continues the debate.
  await page.click("form.continue button");
  await until("nobody waits for the user", async () => (await page.$("form.continue")) === null);
  await ask("go on");
  await until("the verdict is there", () => page.isVisible("#panel-verdict"));
  owner.fine();
  stranger.fine();
  return {};
}
