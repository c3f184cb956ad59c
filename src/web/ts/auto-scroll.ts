// Auto-scroll: follows new turns while the reader is at the end. Otherwise shows a button with the
// number of new turns.
import { createButton } from "./elements.ts";

const END_MARGIN_PX = 160;

export class AutoScroll {
  readonly #turns: HTMLElement;
  readonly #newTurnsButton: HTMLButtonElement;
  #unread = 0;
  #following: boolean;

  constructor(turns: HTMLElement) {
    this.#turns = turns;
    this.#newTurnsButton = createButton("more", "", () => this.scrollToEnd());
    this.#newTurnsButton.hidden = true;
    document.body.append(this.#newTurnsButton);
    this.#following = this.isAtEnd;
    window.addEventListener("scroll", () => this.#onScroll(), { passive: true });
  }

  /** Whether the end of the last turn is visible. */
  get isAtEnd(): boolean {
    const list = document.getElementById(this.#turns.id) ?? this.#turns;
    return list.getBoundingClientRect().bottom <= window.innerHeight + END_MARGIN_PX - this.#coveredHeight();
  }

  /**
   * Call before an update of the page. Call the returned function after it, with the number of new
   * turns.
   */
  beforeUpdate(): (turns: number) => void {
    const shouldFollow = this.#following && this.isAtEnd;
    return (turns) => {
      if (shouldFollow) this.#scrollBy("instant");
      else this.#unread += turns;
      this.#renderButton();
    };
  }

  /** Scrolls to the end on the reader's request. */
  scrollToEnd(): void {
    this.#following = true;
    const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.#scrollBy(reducedMotion ? "instant" : "smooth");
    this.#unread = 0;
    this.#renderButton();
    const lastArticle = document.getElementById(this.#turns.id)?.querySelector<HTMLElement>(":scope > li:last-child article");
    lastArticle?.setAttribute("tabindex", "-1");
    lastArticle?.focus({ preventScroll: true });
  }

  #scrollBy(behavior: ScrollBehavior): void {
    const list = document.getElementById(this.#turns.id) ?? this.#turns;
    const distance = list.getBoundingClientRect().bottom - window.innerHeight + this.#coveredHeight() + 24;
    // Scroll down only, so that a short debate keeps its heading in view.
    if (distance > 0) window.scrollBy({ top: distance, behavior });
  }

  #coveredHeight(): number {
    return document.querySelector(".replay")?.getBoundingClientRect().height ?? 0;
  }

  #onScroll(): void {
    // Follow only while the reader is at the end.
    this.#following = this.isAtEnd;
    if (this.#following && this.#unread > 0) {
      this.#unread = 0;
      this.#renderButton();
    }
  }

  #renderButton(): void {
    this.#newTurnsButton.hidden = this.#unread === 0;
    if (this.#unread > 0) this.#newTurnsButton.textContent = this.#unread === 1 ? "1 new turn ↓" : `${this.#unread} new turns ↓`;
  }
}
