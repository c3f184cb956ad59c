// Live text of running turns. It is inserted as text, never as HTML, and removed when the turn is
// complete.
import type { Live } from "./wire.ts";

/** Buffered live text of a turn, from an offset on. */
interface Heard {
  from: number;
  words: string;
}

const heard = new Map<string, Heard>();
const due = new Set<string>();

/** Merges an update into the buffer. Applying the same update twice changes nothing. */
export function joined(before: Heard | undefined, { offset, text }: Live): Heard {
  if (!before || offset <= before.from || offset > before.from + before.words.length) {
    return { from: offset, words: text };
  }
  return { from: before.from, words: before.words.slice(0, offset - before.from) + text };
}

/** Buffers an update, to be rendered in the next animation frame. */
export function hear(live: Live, shown: () => void): void {
  const id = live.turn;
  heard.set(id, joined(heard.get(id) ?? written(id), live));
  if (due.size === 0) {
    requestAnimationFrame(() => {
      for (const each of due) show(each);
      due.clear();
      shown();
    });
  }
  due.add(id);
}

/** Renders all buffers, after elements were replaced. */
export function showAll(): void {
  for (const id of heard.keys()) show(id);
}

export function forgetTaken(): void {
  for (const id of heard.keys()) {
    const there = document.getElementById(id);
    if (there && there.dataset["pending"] !== "true") heard.delete(id);
  }
}

const room = (id: string): Element | null =>
  document.querySelector(`#${CSS.escape(id)}[data-pending=true] .live`);

/** Live text that the server rendered into the page. */
function written(id: string): Heard | undefined {
  const words = room(id)?.textContent;
  return words ? { from: 0, words } : undefined;
}

function show(id: string): void {
  const said = heard.get(id);
  const place = room(id);
  if (!said || !place) return;
  const words = (said.from > 0 ? "… " : "") + said.words;
  const node = place.firstChild;
  // Append only the new text, so that the reader's selection stays.
  if (node instanceof Text && place.childNodes.length === 1 && words.startsWith(node.data)) {
    node.appendData(words.slice(node.data.length));
  } else {
    place.textContent = words;
  }
}
