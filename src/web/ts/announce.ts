// Announces updates to screen readers in a live region, at most once every three seconds.

const PAUSE = 3000;

let waiting: string[] = [];
let timer: number | undefined;

/** Queues an announcement. If the queue is long, only the last ones are read out. */
export function announce(words: string): void {
  waiting.push(words);
  timer ??= window.setTimeout(speak, 200);
}

function speak(): void {
  const region = document.getElementById("announce");
  if (!region || waiting.length === 0) {
    timer = undefined;
    return;
  }
  const left = waiting.length - 2;
  const last = waiting.slice(-2).join(" ");
  region.textContent = left > 0 ? `${left} more updates. ${last}` : last;
  waiting = [];
  timer = window.setTimeout(speak, PAUSE);
}
