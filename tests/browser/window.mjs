// Launches the browser, and opens windows that record errors, dialogs and external requests.
import { chromium } from "playwright-core";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"];

export async function launch(stage) {
  const browser = await chromium.launch({ executablePath: stage.chromium, args: FLAGS });
  mkdirSync(stage.folder, { recursive: true });

  /** Opens a window in a new browser context, with no shared cookies, storage or cache. */
  async function open(path, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const wrong = [];
    const requests = [];
    const outside = (url) => !/^(about|blob|data):/.test(url) && new URL(url).origin !== new URL(stage.url).origin;
    page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
    page.on("dialog", (dialog) => {
      wrong.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      const expected = /net::ERR_|Failed to load resource/.test(message.text());
      if (message.type() === "error" && !expected) wrong.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      requests.push(request.url());
      if (outside(request.url()) && !options.offline) wrong.push(`request: ${request.url()}`);
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    if (path !== undefined) await page.goto(new URL(path, stage.url).href);
    return {
      page,
      requests,
      wrong,
      /** Asserts that the window recorded no error. */
      fine() {
        assert.deepEqual(wrong, []);
      },
      async shot(name, full = false) {
        await page.screenshot({ path: join(stage.folder, `${name}.png`), fullPage: full, animations: "disabled" });
      },
      close: () => context.close(),
    };
  }
  return { open, close: () => browser.close() };
}

/** Polls a condition until it holds. The timeout is in seconds. */
export async function until(what, so, seconds = 30) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const found = await so();
    if (found) return found;
    assert.ok(Date.now() < deadline, `not in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** Asserts that no element is wider than the viewport. */
export async function fits(page) {
  const wide = await page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll("body *")]
      .filter((element) => element.getBoundingClientRect().right > width + 1)
      .slice(0, 5)
      .map((element) => `${element.tagName}#${element.id}.${element.className} ${element.getBoundingClientRect().right}`);
  });
  assert.deepEqual(wide, [], "wider than the window");
}

/** Ids of all turns in the transcript, in order. */
export const said = (page) => page.$$eval("#turns > li > [id]", (turns) => turns.map((turn) => turn.id));
