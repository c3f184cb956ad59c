// The stream of what happens in a debate. Whatever breaks, it goes on after the last thing known:
// nothing is lost, and what is told twice is heard once.
import { fragments, live, parsed, type Fragments, type Live } from "./wire.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "ended";

/** Whoever listens. */
export interface Listener {
  changed(fragments: Fragments): void;
  spoken(live: Live): void;
  connection(state: Connection): void;
}

const SHORTEST = 400;
const LONGEST = 10_000;
/** How long a page nobody looks at stays connected: a browser has few connections for all of them. */
const UNSEEN = 20_000;

export class Feed {
  #known: number;
  #source: EventSource | undefined;
  #wait = SHORTEST;
  #timer: number | undefined;
  #unseen: number | undefined;
  #over = false;

  constructor(
    readonly url: string,
    after: number,
    readonly listener: Listener,
  ) {
    this.#known = after;
    this.#connect("connecting");
    // A laptop that wakes up does not wait for its turn to try again.
    window.addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => {
      window.clearTimeout(this.#unseen);
      if (document.hidden) this.#unseen = window.setTimeout(() => this.#close(), UNSEEN);
      else this.#now();
    });
    // A page that is put aside for "back" must not hold a connection.
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", (event) => event.persisted && this.#now());
  }

  /** The last thing that is known. */
  get known(): number {
    return this.#known;
  }

  #connect(state: Connection): void {
    this.#close();
    if (this.#over) return;
    this.listener.connection(state);
    const source = new EventSource(`${this.url}?after=${this.#known}`);
    this.#source = source;
    source.addEventListener("open", () => {
      this.#wait = SHORTEST;
      this.listener.connection("live");
    });
    source.addEventListener("fragments", (event) => {
      const said = fragments(parsed(event.data));
      if (!said || said.seq <= this.#known) return;
      this.#known = said.seq;
      this.listener.changed(said);
    });
    source.addEventListener("live", (event) => {
      const said = live(parsed(event.data));
      if (said) this.listener.spoken(said);
    });
    source.addEventListener("end", () => {
      this.#over = true;
      this.#close();
      this.listener.connection("ended");
    });
    source.addEventListener("error", () => this.#lost());
  }

  /** The browser would try again by itself, but not after every kind of failure, and not as told. */
  #lost(): void {
    this.#close();
    this.listener.connection("reconnecting");
    this.#timer = window.setTimeout(() => this.#connect("reconnecting"), this.#wait * (0.75 + Math.random() / 2));
    this.#wait = Math.min(this.#wait * 2, LONGEST);
  }

  #now(): void {
    if (this.#over || this.#source) return;
    this.#connect("reconnecting");
  }

  #close(): void {
    window.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }
}
