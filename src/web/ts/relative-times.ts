// Relative times ("3 minutes ago"). The absolute time is in the tooltip.

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const absoluteFormat = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

function relativeTime(at: Date, now: number): string | undefined {
  const seconds = (at.getTime() - now) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return undefined;
  const step = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  return step ? relativeFormat.format(Math.trunc(seconds / step[1]), step[0]) : "just now";
}

/** Updates all times below an element. */
export function updateTimes(below: ParentNode = document): void {
  const now = Date.now();
  for (const time of below.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title ||= absoluteFormat.format(at);
    const said = relativeTime(at, now);
    if (said && time.textContent !== said) time.textContent = said;
  }
}

/** Updates all times now and every 30 seconds. */
export function keepTimesUpdated(): void {
  updateTimes();
  window.setInterval(() => document.hidden || updateTimes(), 30_000);
}
