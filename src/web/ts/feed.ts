// Client of the event stream (`EventSource`). Reconnects with exponential backoff after the last
// known event, and drops duplicates.
import { fragments, live, parsed, type Fragments, type Live } from "./wire.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "ended";

/** Callbacks for messages of the stream. */
export interface Listener {
  changed(fragments: Fragments): void;
  spoken(live: Live): void;
  connection(state: Connection): void;
}

const SHORTEST = 400;
const LONGEST = 10_000;
/**
 * Time in milliseconds after which a hidden tab disconnects. Browsers limit the connections per
 * host.
 */
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
    // Reconnect at once when the network is back.
    window.addEventListener("online", () => this.#now());
    document.addEventListener("visibilitychange", () => {
      window.clearTimeout(this.#unseen);
      if (document.hidden) this.#unseen = window.setTimeout(() => this.#close(), UNSEEN);
      else this.#now();
    });
    // A page in the back/forward cache must not hold a connection.
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", (event) => event.persisted && this.#now());
  }

  /** Sequence number of the last event received. */
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

  /** Own retry with jitter. `EventSource` does not retry after every kind of error. */
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
