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
  set replaying(replaying: boolean) {
    this.#replaying = replaying;
  }

  get replaying(): boolean {
    return this.#replaying;
  }

  applyUpdate({ title, announce: announcement, replace: replacements, append: additions }: PageUpdate): void {
    if (announcement) announce(announcement);
    if (this.#replaying) return;
    const afterUpdate = this.#autoScroll.beforeUpdate();
    const turnsBefore = countTurns();
    for (const [id, html] of replacements) replaceElement(id, html);
    for (const { parent, id, html } of additions) appendElement(parent, id, html);
    if (title) document.title = title;
    dropFinishedTurns();
    renderAll();
    updateTimes();
    afterUpdate(Math.max(0, countTurns() - turnsBefore));
  }

  applyLiveText(update: LiveTextUpdate): void {
    const afterUpdate = this.#replaying ? undefined : this.#autoScroll.beforeUpdate();
    addLiveText(update, () => afterUpdate?.(0));
  }

  /** Shows the debate as of an earlier event. */
  showSnapshot({ title, html }: PageSnapshot): void {
    for (const [id, fragment] of html) replaceElement(id, fragment);
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
