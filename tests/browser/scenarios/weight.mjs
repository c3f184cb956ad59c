// Page weight and load time: requests, bytes, first contentful paint, layout shift.
import assert from "node:assert/strict";

export default async function ({ browser, stage }) {
  const figures = {};
  for (const [name, path] of Object.entries(stage.pages)) {
    const window = await browser.open(path);
    const { page } = window;
    await page.waitForFunction(() => performance.getEntriesByName("first-contentful-paint").length > 0);
    figures[name] = await page.evaluate(async () => {
      const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      const shifts = await new Promise((resolve) => {
        const observer = new PerformanceObserver((list) => resolve(list.getEntries()));
        observer.observe({ type: "layout-shift", buffered: true });
        setTimeout(() => resolve([]), 300);
      });
      return {
        requests: all.length,
        bytes: all.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0),
        sent: all.reduce((sum, { transferSize }) => sum + transferSize, 0),
        paint: Math.round(performance.getEntriesByName("first-contentful-paint")[0].startTime),
        shift: shifts.reduce((sum, { value }) => sum + value, 0),
      };
    });
    assert.ok(figures[name].bytes < 200_000, `${name}: ${JSON.stringify(figures[name])}`);
    assert.ok(figures[name].shift < 0.05, `${name} moves: ${JSON.stringify(figures[name])}`);
    // A generous limit, as other tests run in parallel.
    assert.ok(figures[name].paint < 3000, `${name}: ${JSON.stringify(figures[name])}`);
    window.fine();
    await window.close();
  }
  return figures;
}
