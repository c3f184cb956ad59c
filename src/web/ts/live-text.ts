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
export function mergeUpdate(buffer: LiveBuffer | undefined, { offset, text }: LiveTextUpdate): LiveBuffer {
  if (!buffer || offset <= buffer.offset || offset > buffer.offset + buffer.text.length) {
    return { offset, text };
  }
  return { offset: buffer.offset, text: buffer.text.slice(0, offset - buffer.offset) + text };
}

/** Buffers an update, to be rendered in the next animation frame. */
export function addLiveText(update: LiveTextUpdate, onRendered: () => void): void {
  const id = update.turn;
  buffers.set(id, mergeUpdate(buffers.get(id) ?? initialBuffer(id), update));
  if (dirty.size === 0) {
    requestAnimationFrame(() => {
      for (const turn of dirty) render(turn);
      dirty.clear();
      onRendered();
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
    const element = document.getElementById(id);
    if (element && element.dataset["pending"] !== "true") buffers.delete(id);
  }
}

const liveElement = (id: string): Element | null =>
  document.querySelector(`#${CSS.escape(id)}[data-pending=true] .live`);

/** Live text that the server rendered into the page. */
function initialBuffer(id: string): LiveBuffer | undefined {
  const text = liveElement(id)?.textContent;
  return text ? { offset: 0, text } : undefined;
}

function render(id: string): void {
  const buffer = buffers.get(id);
  const element = liveElement(id);
  if (!buffer || !element) return;
  const text = (buffer.offset > 0 ? "… " : "") + buffer.text;
  const node = element.firstChild;
  // Append only the new text, so that the reader's selection stays.
  if (node instanceof Text && element.childNodes.length === 1 && text.startsWith(node.data)) {
    node.appendData(text.slice(node.data.length));
  } else {
    element.textContent = text;
  }
}
