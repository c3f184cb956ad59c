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
    /** Sequence number of the event that the page shows. `lastSeq` is the one of the last event. */
    shownSeq: number,
    lastSeq: number,
  ) {
    this.#last = lastSeq;
    this.#build();
    this.#render();
    if (shownSeq < lastSeq) {
      this.view.replaying = true;
      this.#render();
      void this.#loadTimeline().then(() => this.#setPosition(shownSeq));
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
    let seq: number;
    let snapshot: PageSnapshot | undefined;
    do {
      seq = this.#last;
      snapshot = await this.#fetchSnapshot(seq);
      if (!snapshot) return;
    } while (seq < this.#last);
    this.view.replaying = false;
    this.view.showSnapshot(snapshot);
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
    const loadTimeline = (): void => void this.#loadTimeline();
    this.#range.addEventListener("focus", loadTimeline);
    this.#range.addEventListener("pointerenter", loadTimeline);
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
    const start = this.view.replaying && this.#index() < this.#stops.length - 1 ? this.#index() : 0;
    this.#timer = 0;
    this.#render();
    await this.#showStop(start);
    this.#scheduleNext();
  }

  #scheduleNext(): void {
    if (this.#timer === undefined) return;
    const index = this.#index();
    const current = this.#stops[index];
    const next = this.#stops[index + 1];
    if (!current || !next) {
      this.#stop();
      return;
    }
    const speed = Number(this.#speed.value);
    const delay = Math.max(MIN_DELAY_MS, Math.min(next.at - current.at, MAX_DELAY_MS) / speed);
    this.#timer = window.setTimeout(() => void this.#showStop(index + 1).then(() => this.#scheduleNext()), delay);
    void this.#fetchSnapshot(next.seq, false);
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
    const snapshot = await this.#fetchSnapshot(stop.seq);
    // The reader may have moved on during the request.
    if (!snapshot || !this.view.replaying || this.#stops[this.#index()]?.seq !== stop.seq) return;
    this.view.showSnapshot(snapshot);
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
    const { replaying } = this.view;
    const stop = replaying ? this.#stops[this.#index()] : undefined;
    const position = stop ? `${this.#index() + 1} of ${this.#stops.length} · ${stop.label}` : "";
    this.#label.textContent = replaying ? position : "Latest";
    this.#label.title = position;
    this.#range.setAttribute("aria-valuetext", position || "Latest");
    this.#play.textContent = this.#timer === undefined ? "Play" : "Pause";
    this.#play.dataset["playing"] = String(this.#timer !== undefined);
    this.#endButton.disabled = !replaying;
    this.element.dataset["away"] = String(replaying);
    document.body.dataset["away"] = String(replaying);
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
    const stops = parseTimeline(await fetchJson(this.urls.timeline));
    if (stops.length === 0) {
      this.#stale = true;
      return;
    }
    const [index, oldMax] = [this.#index(), Number(this.#range.max)];
    const last = stops.length - 1;
    const position = this.#stops.length > 0 ? index : Math.round((index / oldMax) * last);
    this.#stops = stops;
    this.#range.max = String(last);
    this.#range.value = String(index >= oldMax && !this.view.replaying ? last : position);
    this.#render();
  }

  async #fetchSnapshot(seq: number, abortPending = true): Promise<PageSnapshot | undefined> {
    const cached = this.#cache.get(seq);
    if (cached) return cached;
    if (abortPending) this.#pendingRequest?.abort();
    const controller = new AbortController();
    if (abortPending) this.#pendingRequest = controller;
    const snapshot = parseSnapshot(await fetchJson(`${this.urls.fragments}?at=${seq}`, controller.signal));
    if (!snapshot) return undefined;
    if (this.#cache.size >= CACHE_SIZE) this.#cache.delete(this.#cache.keys().next().value ?? 0);
    this.#cache.set(seq, snapshot);
    return snapshot;
  }
}

async function fetchJson(url: string, signal?: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
    return response.ok ? await response.json() : undefined;
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
