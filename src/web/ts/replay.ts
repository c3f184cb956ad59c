// Replay of a debate: a slider over all its events, which can be played at several speeds.
import { announce } from "./announce.ts";
import { button, make } from "./made.ts";
import type { Stage } from "./stage.ts";
import { moment, stops, type Moment, type Stop } from "./wire.ts";

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 64];
/** Maximum delay between two events in milliseconds. Longer pauses are shortened. */
const LONGEST_PAUSE = 5000;
const SHORTEST_PAUSE = 60;
const REMEMBERED = 60;

export interface Places {
  timeline: string;
  fragments: string;
}

export class Replay {
  readonly element = make("section", "replay");
  readonly #play = button("play", "Play", () => this.toggle());
  readonly #range = make("input", "");
  readonly #speed = make("select", "");
  readonly #label = make("output", "where");
  readonly #back = button("back", "To the end", () => void this.leave());
  readonly #seen = new Map<number, Moment>();
  #stops: Stop[] = [];
  #last: number;
  #timer: number | undefined;
  #asked: AbortController | undefined;
  #stale = true;
  #knowing: Promise<void> = Promise.resolve();

  constructor(
    readonly places: Places,
    readonly stage: Stage,
    /** Sequence number of the event that the page shows. `last` is the one of the last event. */
    shown: number,
    last: number,
  ) {
    this.#last = last;
    this.#build();
    this.#draw();
    if (shown < last) {
      this.stage.away = true;
      this.#draw();
      void this.#know().then(() => this.#stand(shown));
    }
  }

  /** Called for every new event. */
  grown(seq: number): void {
    this.#last = Math.max(this.#last, seq);
    this.#stale = true;
    this.#draw();
  }

  /** Whether the debate is still running. */
  set running(running: boolean) {
    this.#back.textContent = running ? "Back to live" : "To the end";
  }

  toggle(): void {
    if (this.#timer !== undefined) this.#stop();
    else void this.#start();
  }

  /** Returns to the end of the debate. */
  async leave(): Promise<void> {
    this.#stop();
    if (!this.stage.away) return this.stage.end();
    // Fetch again if more events arrive during the request.
    let at: number;
    let now: Moment | undefined;
    do {
      at = this.#last;
      now = await this.#at(at);
      if (!now) return;
    } while (at < this.#last);
    this.stage.away = false;
    this.stage.show(now);
    this.#range.value = this.#range.max;
    address(undefined);
    this.#draw();
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
      const option = make("option", "", `${speed}×`);
      option.value = String(speed);
      option.selected = speed === 1;
      this.#speed.append(option);
    }
    this.#speed.setAttribute("aria-label", "Speed");
    const know = (): void => void this.#know();
    this.#range.addEventListener("focus", know);
    this.#range.addEventListener("pointerenter", know);
    this.#range.addEventListener("input", () => {
      this.#stop();
      void this.#know().then(() => this.#go(this.#index()));
    });
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.append(this.#play, this.#range, this.#label, this.#speed, this.#back);
  }

  /** Handles the player's keys while the focus is inside. */
  #key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target === this.#speed) return;
    const onButton = event.target instanceof HTMLButtonElement;
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && !onButton) this.toggle();
    else if (step !== undefined && onButton) {
      this.#stop();
      void this.#know().then(() => this.#go(this.#index() + step));
    } else return;
    event.preventDefault();
  }

  async #start(): Promise<void> {
    await this.#know();
    if (this.#stops.length === 0) return;
    const from = this.stage.away && this.#index() < this.#stops.length - 1 ? this.#index() : 0;
    this.#timer = 0;
    this.#draw();
    await this.#go(from);
    this.#next();
  }

  #next(): void {
    if (this.#timer === undefined) return;
    const index = this.#index();
    const here = this.#stops[index];
    const then = this.#stops[index + 1];
    if (!here || !then) {
      this.#stop();
      return;
    }
    const speed = Number(this.#speed.value);
    const pause = Math.max(SHORTEST_PAUSE, Math.min(then.at - here.at, LONGEST_PAUSE) / speed);
    this.#timer = window.setTimeout(() => void this.#go(index + 1).then(() => this.#next()), pause);
    void this.#at(then.seq, false);
  }

  #stop(): void {
    window.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#draw();
  }

  #index(): number {
    return Number(this.#range.value);
  }

  /** Shows the debate as of a stop of the timeline. */
  async #go(index: number): Promise<void> {
    const stop = this.#stops[Math.max(0, Math.min(index, this.#stops.length - 1))];
    if (!stop) return;
    this.stage.away = true;
    this.#stand(stop.seq);
    const then = await this.#at(stop.seq);
    // The reader may have moved on during the request.
    if (!then || !this.stage.away || this.#stops[this.#index()]?.seq !== stop.seq) return;
    this.stage.show(then);
    address(stop.seq);
    if (stop.turn) reveal(stop.turn);
  }

  /** Sets the slider to an event. */
  #stand(seq: number): void {
    const index = this.#stops.findLastIndex((stop) => stop.seq <= seq);
    this.#range.value = String(Math.max(0, index));
    this.#draw();
  }

  #draw(): void {
    const { away } = this.stage;
    const stop = away ? this.#stops[this.#index()] : undefined;
    const place = stop ? `${this.#index() + 1} of ${this.#stops.length} · ${stop.label}` : "";
    this.#label.textContent = away ? place : "Latest";
    this.#label.title = place;
    this.#range.setAttribute("aria-valuetext", place || "Latest");
    this.#play.textContent = this.#timer === undefined ? "Play" : "Pause";
    this.#play.dataset["playing"] = String(this.#timer !== undefined);
    this.#back.disabled = !away;
    this.element.dataset["away"] = String(away);
    document.body.dataset["away"] = String(away);
  }

  /** Loads the timeline, if it is stale. */
  #know(): Promise<void> {
    if (this.#stale) {
      this.#stale = false;
      this.#knowing = this.#learn();
    }
    return this.#knowing;
  }

  async #learn(): Promise<void> {
    const found = stops(await ask(this.places.timeline));
    if (found.length === 0) {
      this.#stale = true;
      return;
    }
    const [index, before] = [this.#index(), Number(this.#range.max)];
    const last = found.length - 1;
    const same = this.#stops.length > 0 ? index : Math.round((index / before) * last);
    this.#stops = found;
    this.#range.max = String(last);
    this.#range.value = String(index >= before && !this.stage.away ? last : same);
    this.#draw();
  }

  async #at(seq: number, wanted = true): Promise<Moment | undefined> {
    const seen = this.#seen.get(seq);
    if (seen) return seen;
    if (wanted) this.#asked?.abort();
    const asked = new AbortController();
    if (wanted) this.#asked = asked;
    const found = moment(await ask(`${this.places.fragments}?at=${seq}`, asked.signal));
    if (!found) return undefined;
    if (this.#seen.size >= REMEMBERED) this.#seen.delete(this.#seen.keys().next().value ?? 0);
    this.#seen.set(seq, found);
    return found;
  }
}

async function ask(url: string, signal?: AbortSignal): Promise<unknown> {
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" }, signal: signal ?? null });
    return answer.ok ? await answer.json() : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the position in the URL, so that it can be shared. */
function address(seq: number | undefined): void {
  const url = new URL(location.href);
  if (seq === undefined) url.searchParams.delete("at");
  else url.searchParams.set("at", String(seq));
  history.replaceState(history.state, "", url);
}

function reveal(turn: string): void {
  document.getElementById(turn)?.scrollIntoView({ block: "nearest", behavior: "instant" });
}
