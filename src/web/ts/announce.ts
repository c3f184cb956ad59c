// Announces updates to screen readers in a live region, at most once every three seconds.

const ANNOUNCE_INTERVAL_MS = 3000;

let pending: string[] = [];
let timer: number | undefined;

/** Queues an announcement. If the queue is long, only the last ones are read out. */
export function announce(message: string): void {
  pending.push(message);
  timer ??= window.setTimeout(flush, 200);
}

function flush(): void {
  const region = document.getElementById("announce");
  if (!region || pending.length === 0) {
    timer = undefined;
    return;
  }
  const skipped = pending.length - 2;
  const latest = pending.slice(-2).join(" ");
  region.textContent = skipped > 0 ? `${skipped} more updates. ${latest}` : latest;
  pending = [];
  timer = window.setTimeout(flush, ANNOUNCE_INTERVAL_MS);
}
