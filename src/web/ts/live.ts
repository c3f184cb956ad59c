// Words of turns that are still being spoken. They are set as text, never as HTML, and are gone when
// the turn is there.
import type { Live } from "./wire.ts";

/** What was heard of a turn, from some point of it on. */
interface Heard {
  from: number;
  words: string;
}

const heard = new Map<string, Heard>();
const due = new Set<string>();

/** Joins what came with what was there: the same piece twice changes nothing. */
export function joined(before: Heard | undefined, { offset, text }: Live): Heard {
  if (!before || offset <= before.from || offset > before.from + before.words.length) {
    return { from: offset, words: text };
  }
  return { from: before.from, words: before.words.slice(0, offset - before.from) + text };
}

/** Hears a piece; it is shown with the next frame. */
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

/** Brings what was heard into articles that were made anew, and forgets turns that have been taken. */
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

/** What the page came with. */
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
  // Only what is new is written: a selection in the words stays.
  if (node instanceof Text && place.childNodes.length === 1 && words.startsWith(node.data)) {
    node.appendData(words.slice(node.data.length));
  } else {
    place.textContent = words;
  }
}
