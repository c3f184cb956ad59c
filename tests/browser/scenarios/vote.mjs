// A user in the audience votes on the page, and the waiting debate continues.
import assert from "node:assert/strict";
import { until } from "../window.mjs";

export default async function ({ browser, stage, ask, url }) {
  const stranger = await browser.open(`/debates/${stage.id}`);
  assert.equal(await stranger.page.$("form.vote"), null);

  const { page, fine, shot } = await browser.open(stage.enter);
  await page.goto(url(`/debates/${stage.id}`));
  await page.waitForSelector("form.vote");
  await shot("vote");
  // Fill in and submit a valid vote.
  await page.check("form.vote input[name=side][value=pro]");
  await page.fill("form.vote input[name=confidence]", "85");
  await page.fill("form.vote textarea[name=reason]", "Backups of one file are simple.");
  await page.click("form.vote button[type=submit]");
  await until("the vote is taken", async () => !(await page.$("form.vote")));
  await ask("voted");
  await until("the stranger is told", () => stranger.page.$(".connection[data-state=ended]"));
  assert.ok(await stranger.page.isVisible("#panel-votes"));
  assert.match(await stranger.page.textContent("#panel-votes"), /Backups of one file|pro/i);
  stranger.fine();
  fine();
}
