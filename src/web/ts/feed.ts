// Client of the event stream (`EventSource`). Reconnects with exponential backoff after the last
// known event, and drops duplicates.
import { parsePageUpdate, parseLiveText, parseJson, type PageUpdate, type LiveTextUpdate } from "./protocol.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "ended";

/** Callbacks for messages of the stream. */
export interface FeedListener {
  onUpdate(update: PageUpdate): void;
  onLiveText(update: LiveTextUpdate): void;
  onConnection(state: Connection): void;
}

const MIN_BACKOFF_MS = 400;
const MAX_BACKOFF_MS = 10_000;
/**
 * Time in milliseconds after which a hidden tab disconnects. Browsers limit the connections per
 * host.
 */
const HIDDEN_TIMEOUT_MS = 20_000;

export class LiveFeed {
  #lastSeq: number;
  #source: EventSource | undefined;
  #backoff = MIN_BACKOFF_MS;
  #timer: number | undefined;
  #hiddenTimer: number | undefined;
  #ended = false;

  constructor(
    readonly url: string,
    after: number,
    readonly listener: FeedListener,
  ) {
    this.#lastSeq = after;
    this.#connect("connecting");
    // Reconnect at once when the network is back.
    window.addEventListener("online", () => this.#reconnectNow());
    document.addEventListener("visibilitychange", () => {
      window.clearTimeout(this.#hiddenTimer);
      if (document.hidden) this.#hiddenTimer = window.setTimeout(() => this.#close(), HIDDEN_TIMEOUT_MS);
      else this.#reconnectNow();
    });
    // A page in the back/forward cache must not hold a connection.
    window.addEventListener("pagehide", () => this.#close());
    window.addEventListener("pageshow", (event) => event.persisted && this.#reconnectNow());
  }

  /** Sequence number of the last event received. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  #connect(state: Connection): void {
    this.#close();
    if (this.#ended) return;
    this.listener.onConnection(state);
    const source = new EventSource(`${this.url}?after=${this.#lastSeq}`);
    this.#source = source;
    source.addEventListener("open", () => {
      this.#backoff = MIN_BACKOFF_MS;
      this.listener.onConnection("live");
    });
    source.addEventListener("fragments", (event) => {
      const update = parsePageUpdate(parseJson(event.data));
      if (!update || update.seq <= this.#lastSeq) return;
      this.#lastSeq = update.seq;
      this.listener.onUpdate(update);
    });
    source.addEventListener("live", (event) => {
      const update = parseLiveText(parseJson(event.data));
      if (update) this.listener.onLiveText(update);
    });
    source.addEventListener("end", () => {
      this.#ended = true;
      this.#close();
      this.listener.onConnection("ended");
    });
    source.addEventListener("error", () => this.#scheduleReconnect());
  }

  /** Own retry with jitter. `EventSource` does not retry after every kind of error. */
  #scheduleReconnect(): void {
    this.#close();
    this.listener.onConnection("reconnecting");
    this.#timer = window.setTimeout(() => this.#connect("reconnecting"), this.#backoff * (0.75 + Math.random() / 2));
    this.#backoff = Math.min(this.#backoff * 2, MAX_BACKOFF_MS);
  }

  #reconnectNow(): void {
    if (this.#ended || this.#source) return;
    this.#connect("reconnecting");
  }

  #close(): void {
    window.clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }
}
