// Replay of a debate: a slider over all its events, which can be played at several speeds.
import { announce } from "./announce.ts";
import { createButton, createElement } from "./elements.ts";
import type { DebateView } from "./debate-view.ts";
import { parseSnapshot, parseTimeline, type PageSnapshot, type TimelineStop } from "./protocol.ts";

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 64];
/** Maximum delay between two events in milliseconds. Longer pauses are shortened. */
const MAX_DELAY_MS = 5000;
const MIN_DELAY_MS = 60;
const CACHE_SIZE = 60;

export interface ReplayUrls {
  timeline: string;
  fragments: string;
}

export class Replay {
  readonly element = createElement("section", "replay");
  readonly #play = createButton("play", "Play", () => this.toggle());
  readonly #range = createElement("input", "");
  readonly #speed = createElement("select", "");
  readonly #label = createElement("output", "where");
  readonly #endButton = createButton("back", "To the end", () => void this.returnToEnd());
  readonly #cache = new Map<number, PageSnapshot>();
  #stops: TimelineStop[] = [];
  #last: number;
  #timer: number | undefined;
  #pendingRequest: AbortController | undefined;
  #stale = true;
  #loading: Promise<void> = Promise.resolve();

  constructor(
    readonly urls: ReplayUrls,
    readonly view: DebateView,
    /** Sequence number of the event that the page shows. `last` is the one of the last event. */
    shown: number,
    last: number,
  ) {
    this.#last = last;
    this.#build();
    this.#render();
    if (shown < last) {
      this.view.replaying = true;
      this.#render();
      void this.#loadTimeline().then(() => this.#setPosition(shown));
    }
  }

  /** Called for every new event. */
  onEvent(seq: number): void {
    this.#last = Math.max(this.#last, seq);
    this.#stale = true;
    this.#render();
  }

  /** Whether the debate is still running. */
  set running(running: boolean) {
    this.#endButton.textContent = running ? "Back to live" : "To the end";
  }

  toggle(): void {
    if (this.#timer !== undefined) this.#stop();
    else void this.#start();
  }

  /** Returns to the end of the debate. */
  async returnToEnd(): Promise<void> {
    this.#stop();
    if (!this.view.replaying) return this.view.scrollToEnd();
    // Fetch again if more events arrive during the request.
    let at: number;
    let now: PageSnapshot | undefined;
    do {
      at = this.#last;
      now = await this.#fetchSnapshot(at);
      if (!now) return;
    } while (at < this.#last);
    this.view.replaying = false;
    this.view.showSnapshot(now);
    this.#range.value = this.#range.max;
    setUrlPosition(undefined);
    this.#render();
    announce("Back at the end of the debate.");
  }

  #build(): void {
    this.element.setAttribute("aria-label", "Replay");
    this.#range.type = "range";
    this.#range.min = "0";
    // Placeholder range until the timeline is loaded.
    this.#range.max = "1000";
    this.#range.value = "1000";
    this.#range.setAttribute("aria-label", "Moment of the debate");
    for (const speed of SPEEDS) {
      const option = createElement("option", "", `${speed}×`);
      option.value = String(speed);
      option.selected = speed === 1;
      this.#speed.append(option);
    }
    this.#speed.setAttribute("aria-label", "Speed");
    const know = (): void => void this.#loadTimeline();
    this.#range.addEventListener("focus", know);
    this.#range.addEventListener("pointerenter", know);
    this.#range.addEventListener("input", () => {
      this.#stop();
      void this.#loadTimeline().then(() => this.#showStop(this.#index()));
    });
    this.element.addEventListener("keydown", (event) => this.#onKeydown(event));
    this.element.append(this.#play, this.#range, this.#label, this.#speed, this.#endButton);
  }

  /** Handles the player's keys while the focus is inside. */
  #onKeydown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === this.#speed) return;
    const onButton = event.target instanceof HTMLButtonElement;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && !onButton) this.toggle();
    else if (step !== undefined && onButton) {
      this.#stop();
      void this.#loadTimeline().then(() => this.#showStop(this.#index() + step));
    } else return;
    event.preventDefault();
  }

  async #start(): Promise<void> {
    await this.#loadTimeline();
    if (this.#stops.length === 0) return;
    const from = this.view.replaying && this.#index() < this.#stops.length - 1 ? this.#index() : 0;
    this.#timer = 0;
    this.#render();
    await this.#showStop(from);
    this.#scheduleNext();
  }

  #scheduleNext(): void {
    if (this.#timer === undefined) return;
    const index = this.#index();
    const here = this.#stops[index];
    const then = this.#stops[index + 1];
    if (!here || !then) {
      this.#stop();
      return;
    }
    const speed = Number(this.#speed.value);
    const pause = Math.max(MIN_DELAY_MS, Math.min(then.at - here.at, MAX_DELAY_MS) / speed);
    this.#timer = window.setTimeout(() => void this.#showStop(index + 1).then(() => this.#scheduleNext()), pause);
    void this.#fetchSnapshot(then.seq, false);
  }

  #stop(): void {
    window.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#render();
  }

  #index(): number {
    return Number(this.#range.value);
  }

  /** Shows the debate as of a stop of the timeline. */
  async #showStop(index: number): Promise<void> {
    const stop = this.#stops[Math.max(0, Math.min(index, this.#stops.length - 1))];
    if (!stop) return;
    this.view.replaying = true;
    this.#setPosition(stop.seq);
    const then = await this.#fetchSnapshot(stop.seq);
    // The reader may have moved on during the request.
    if (!then || !this.view.replaying || this.#stops[this.#index()]?.seq !== stop.seq) return;
    this.view.showSnapshot(then);
    setUrlPosition(stop.seq);
    if (stop.turn) scrollToTurn(stop.turn);
  }

  /** Sets the slider to an event. */
  #setPosition(seq: number): void {
    const index = this.#stops.findLastIndex((stop) => stop.seq <= seq);
    this.#range.value = String(Math.max(0, index));
    this.#render();
  }

  #render(): void {
    const { replaying: away } = this.view;
    const stop = away ? this.#stops[this.#index()] : undefined;
    const place = stop ? `${this.#index() + 1} of ${this.#stops.length} · ${stop.label}` : "";
    this.#label.textContent = away ? place : "Latest";
    this.#label.title = place;
    this.#range.setAttribute("aria-valuetext", place || "Latest");
    this.#play.textContent = this.#timer === undefined ? "Play" : "Pause";
    this.#play.dataset["playing"] = String(this.#timer !== undefined);
    this.#endButton.disabled = !away;
    this.element.dataset["away"] = String(away);
    document.body.dataset["away"] = String(away);
  }

  /** Loads the timeline, if it is stale. */
  #loadTimeline(): Promise<void> {
    if (this.#stale) {
      this.#stale = false;
      this.#loading = this.#fetchTimeline();
    }
    return this.#loading;
  }

  async #fetchTimeline(): Promise<void> {
    const found = parseTimeline(await fetchJson(this.urls.timeline));
    if (found.length === 0) {
      this.#stale = true;
      return;
    }
    const [index, before] = [this.#index(), Number(this.#range.max)];
    const last = found.length - 1;
    const same = this.#stops.length > 0 ? index : Math.round((index / before) * last);
    this.#stops = found;
    this.#range.max = String(last);
    this.#range.value = String(index >= before && !this.view.replaying ? last : same);
    this.#render();
  }

  async #fetchSnapshot(seq: number, wanted = true): Promise<PageSnapshot | undefined> {
    const seen = this.#cache.get(seq);
    if (seen) return seen;
    if (wanted) this.#pendingRequest?.abort();
    const asked = new AbortController();
    if (wanted) this.#pendingRequest = asked;
    const found = parseSnapshot(await fetchJson(`${this.urls.fragments}?at=${seq}`, asked.signal));
    if (!found) return undefined;
    if (this.#cache.size >= CACHE_SIZE) this.#cache.delete(this.#cache.keys().next().value ?? 0);
    this.#cache.set(seq, found);
    return found;
  }
}

async function fetchJson(url: string, signal?: AbortSignal): Promise<unknown> {
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the position in the URL, so that it can be shared. */
function setUrlPosition(seq: number | undefined): void {
  const url = new URL(location.href);
  if (seq === undefined) url.searchParams.delete("at");
  else url.searchParams.set("at", String(seq));
  history.replaceState(history.state, "", url);
}

function scrollToTurn(turn: string): void {
  document.getElementById(turn)?.scrollIntoView({ block: "nearest", behavior: "instant" });
}
