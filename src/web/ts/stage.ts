// View of the debate page: applies updates from the stream, unless the reader is in the replay.
import { announce } from "./announce.ts";
import { End } from "./end.ts";
import { append, replace } from "./html.ts";
import { forgetTaken, hear, showAll } from "./live.ts";
import { tell } from "./times.ts";
import type { Fragments, Live, Moment } from "./wire.ts";

export class Stage {
  readonly #end: End;
  /** Whether the replay shows an earlier event. */
  #away = false;

  constructor(turns: HTMLElement) {
    this.#end = new End(turns);
  }

  /** Enters or leaves the replay. */
  set away(away: boolean) {
    this.#away = away;
  }

  get away(): boolean {
    return this.#away;
  }

  changed({ title, announce: words, replace: parts, append: more }: Fragments): void {
    if (words) announce(words);
    if (this.#away) return;
    const after = this.#end.before();
    const turns = articles();
    for (const [id, html] of parts) replace(id, html);
    for (const { parent, id, html } of more) append(parent, id, html);
    if (title) document.title = title;
    forgetTaken();
    showAll();
    tell();
    after(Math.max(0, articles() - turns));
  }

  spoken(live: Live): void {
    const after = this.#away ? undefined : this.#end.before();
    hear(live, () => after?.(0));
  }

  /** Shows the debate as of an earlier event. */
  show({ title, html }: Moment): void {
    for (const [id, part] of html) replace(id, part);
    if (title) document.title = title;
    if (!this.#away) {
      forgetTaken();
      showAll();
    }
    tell();
  }

  end(): void {
    this.#end.go();
  }
}

const articles = (): number => document.querySelectorAll("#turns article").length;
