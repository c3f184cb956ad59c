// Live text of running turns. It is inserted as text, never as HTML, and removed when the turn is
// complete.
import type { LiveTextUpdate } from "./protocol.ts";

/** Buffered live text of a turn, from an offset on. */
interface LiveBuffer {
  offset: number;
  text: string;
}

const buffers = new Map<string, LiveBuffer>();
const dirty = new Set<string>();

/** Merges an update into the buffer. Applying the same update twice changes nothing. */
export function mergeUpdate(before: LiveBuffer | undefined, { offset, text }: LiveTextUpdate): LiveBuffer {
  if (!before || offset <= before.offset || offset > before.offset + before.text.length) {
    return { offset: offset, text: text };
  }
  return { offset: before.offset, text: before.text.slice(0, offset - before.offset) + text };
}

/** Buffers an update, to be rendered in the next animation frame. */
export function addLiveText(live: LiveTextUpdate, shown: () => void): void {
  const id = live.turn;
  buffers.set(id, mergeUpdate(buffers.get(id) ?? initialBuffer(id), live));
  if (dirty.size === 0) {
    requestAnimationFrame(() => {
      for (const each of dirty) render(each);
      dirty.clear();
      shown();
    });
  }
  dirty.add(id);
}

/** Renders all buffers, after elements were replaced. */
export function renderAll(): void {
  for (const id of buffers.keys()) render(id);
}

export function dropFinishedTurns(): void {
  for (const id of buffers.keys()) {
    const there = document.getElementById(id);
    if (there && there.dataset["pending"] !== "true") buffers.delete(id);
  }
}

const liveElement = (id: string): Element | null =>
  document.querySelector(`#${CSS.escape(id)}[data-pending=true] .live`);

/** Live text that the server rendered into the page. */
function initialBuffer(id: string): LiveBuffer | undefined {
  const words = liveElement(id)?.textContent;
  return words ? { offset: 0, text: words } : undefined;
}

function render(id: string): void {
  const said = buffers.get(id);
  const place = liveElement(id);
  if (!said || !place) return;
  const words = (said.offset > 0 ? "… " : "") + said.text;
  const node = place.firstChild;
  // Append only the new text, so that the reader's selection stays.
  if (node instanceof Text && place.childNodes.length === 1 && words.startsWith(node.data)) {
    node.appendData(words.slice(node.data.length));
  } else {
    place.textContent = words;
  }
}
