// Relative times ("3 minutes ago"). The absolute time is in the tooltip.

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absoluteFormat = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

function relativeTime(date: Date, now: number): string | undefined {
  const seconds = (date.getTime() - now) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return undefined;
  const unit = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return unit ? relativeFormat.format(Math.trunc(seconds / unit[1]), unit[0]) : "just now";
}

/** Updates all times below an element. */
export function updateTimes(root: ParentNode = document): void {
  const now = Date.now();
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    element.title ||= absoluteFormat.format(date);
    const text = relativeTime(date, now);
    if (text && element.textContent !== text) element.textContent = text;
  }
}

/** Updates all times now and every 30 seconds. */
export function keepTimesUpdated(): void {
  updateTimes();
  window.setInterval(() => document.hidden || updateTimes(), 30_000);
}
