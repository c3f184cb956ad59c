// Announces updates to screen readers in a live region, at most once every three seconds.

const ANNOUNCE_INTERVAL_MS = 3000;

let pending: string[] = [];
let timer: number | undefined;

/** Queues an announcement. If the queue is long, only the last ones are read out. */
export function announce(words: string): void {
  pending.push(words);
  timer ??= window.setTimeout(flush, 200);
}

function flush(): void {
  const region = document.getElementById("announce");
  if (!region || pending.length === 0) {
    timer = undefined;
    return;
  }
  const left = pending.length - 2;
  const last = pending.slice(-2).join(" ");
  region.textContent = left > 0 ? `${left} more updates. ${last}` : last;
  pending = [];
  timer = window.setTimeout(flush, ANNOUNCE_INTERVAL_MS);
}
