// Whoever has the token takes part; whoever has not is shown how, and refused.
import assert from "node:assert/strict";
import { until } from "../window.mjs";

export default async function ({ browser, stage, ask, url }) {
  // A stranger sees no form, and cannot send one made up.
  const stranger = await browser.open(`/debates/${stage.id}`);
  assert.equal(await stranger.page.$("#panel-actions form"), null);
  await stranger.shot("stranger");
  for (const [action, form] of [["remark", { text: "let me in" }], ["pause", {}], ["verdict", {}]]) {
    for (const headers of [{}, { origin: "http://evil.example" }, { accept: "application/json" }]) {
      const answer = await stranger.page.request.post(url(`/debates/${stage.id}/actions/${action}`), { form, headers });
      assert.ok([401, 403].includes(answer.status()), `${action} is refused: ${answer.status()}`);
    }
  }
  stranger.fine();

  // The owner enters by the address the program has printed, and the token leaves the address.
  const owner = await browser.open(stage.enter);
  const { page } = owner;
  assert.doesNotMatch(page.url(), /token=/);
  await page.goto(url(`/debates/${stage.id}`));
  await page.waitForSelector("#panel-actions form.remark");
  await owner.shot("owner");

  // A form without the page's own secret is refused, cookie or not.
  const forged = await page.request.post(url(`/debates/${stage.id}/actions/remark`), { form: { text: "forged" } });
  assert.equal(forged.status(), 403);

  // A remark, without leaving the page.
  await page.evaluate(() => (globalThis.stayed = true));
  await page.fill("#remark", "Mind the backups, please. <script>ran = 1</script>");
  await page.click("form.remark button");
  await until("the remark is told", () => page.$("#turns .remark"));
  assert.match(await page.textContent("#turns .remark"), /Mind the backups/);
  assert.equal(await page.inputValue("#remark"), "", "what was sent is not kept");
  assert.equal(await page.evaluate(() => globalThis.stayed), true);
  await ask("remarked");

  // Words half written stay while the page goes on.
  await page.fill("#remark", "half written");
  await page.click("form.pause button");
  await until("it is told", () => page.$("#panel-actions .said[data-ok=true], form.continue"));
  assert.equal(await page.inputValue("#remark").catch(() => "half written"), "half written");
  owner.fine();
  return {};
}
