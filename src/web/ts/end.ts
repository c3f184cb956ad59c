// Auto-scroll: follows new turns while the reader is at the end. Otherwise shows a button with the
// number of new turns.
import { button } from "./made.ts";

const NEAR = 160;

export class End {
  readonly #turns: HTMLElement;
  readonly #more: HTMLButtonElement;
  #unread = 0;
  #following: boolean;

  constructor(turns: HTMLElement) {
    this.#turns = turns;
    this.#more = button("more", "", () => this.go());
    this.#more.hidden = true;
    document.body.append(this.#more);
    this.#following = this.reached;
    window.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  /** Whether the end of the last turn is visible. */
  get reached(): boolean {
    const list = document.getElementById(this.#turns.id) ?? this.#turns;
    return list.getBoundingClientRect().bottom <= window.innerHeight + NEAR - this.#covered();
  }

  /**
   * Call before an update of the page. Call the returned function after it, with the number of new
   * turns.
   */
  before(): (turns: number) => void {
    const follow = this.#following && this.reached;
    return (turns) => {
      if (follow) this.#to("instant");
      else this.#unread += turns;
      this.#show();
    };
  }

  /** Scrolls to the end on the reader's request. */
  go(): void {
    this.#following = true;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#to(calm ? "instant" : "smooth");
    this.#unread = 0;
    this.#show();
    const last = document.getElementById(this.#turns.id)?.querySelector<HTMLElement>(":scope > li:last-child article");
    last?.setAttribute("tabindex", "-1");
    last?.focus({ preventScroll: true });
  }

  #to(behavior: ScrollBehavior): void {
    const list = document.getElementById(this.#turns.id) ?? this.#turns;
    const below = list.getBoundingClientRect().bottom - window.innerHeight + this.#covered() + 24;
    // Scroll down only, so that a short debate keeps its heading in view.
    if (below > 0) window.scrollBy({ top: below, behavior });
  }

  #covered(): number {
    return document.querySelector(".replay")?.getBoundingClientRect().height ?? 0;
  }

  #scrolled(): void {
    // Follow only while the reader is at the end.
    this.#following = this.reached;
    if (this.#following && this.#unread > 0) {
      this.#unread = 0;
      this.#show();
    }
  }

  #show(): void {
    this.#more.hidden = this.#unread === 0;
    if (this.#unread > 0) this.#more.textContent = this.#unread === 1 ? "1 new turn ↓" : `${this.#unread} new turns ↓`;
  }
}
