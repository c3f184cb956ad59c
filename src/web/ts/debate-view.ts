// View of the debate page: applies updates from the stream, unless the reader is in the replay.
import { announce } from "./announce.ts";
import { AutoScroll } from "./auto-scroll.ts";
import { appendElement, replaceElement } from "./html.ts";
import { dropFinishedTurns, addLiveText, renderAll } from "./live-text.ts";
import { updateTimes } from "./relative-times.ts";
import type { PageUpdate, LiveTextUpdate, PageSnapshot } from "./protocol.ts";

export class DebateView {
  readonly #autoScroll: AutoScroll;
  /** Whether the replay shows an earlier event. */
  #replaying = false;

  constructor(turns: HTMLElement) {
    this.#autoScroll = new AutoScroll(turns);
  }

  /** Enters or leaves the replay. */
  set replaying(away: boolean) {
    this.#replaying = away;
  }

  get replaying(): boolean {
    return this.#replaying;
  }

  applyUpdate({ title, announce: words, replace: parts, append: more }: PageUpdate): void {
    if (words) announce(words);
    if (this.#replaying) return;
    const after = this.#autoScroll.beforeUpdate();
    const turns = countTurns();
    for (const [id, html] of parts) replaceElement(id, html);
    for (const { parent, id, html } of more) appendElement(parent, id, html);
    if (title) document.title = title;
    dropFinishedTurns();
    renderAll();
    updateTimes();
    after(Math.max(0, countTurns() - turns));
  }

  applyLiveText(live: LiveTextUpdate): void {
    const after = this.#replaying ? undefined : this.#autoScroll.beforeUpdate();
    addLiveText(live, () => after?.(0));
  }

  /** Shows the debate as of an earlier event. */
  showSnapshot({ title, html }: PageSnapshot): void {
    for (const [id, part] of html) replaceElement(id, part);
    if (title) document.title = title;
    if (!this.#replaying) {
      dropFinishedTurns();
      renderAll();
    }
    updateTimes();
  }

  scrollToEnd(): void {
    this.#autoScroll.scrollToEnd();
  }
}

const countTurns = (): number => document.querySelectorAll("#turns article").length;
