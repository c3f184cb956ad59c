// Entry point of the live page's script. The page is readable without it.
import { actions } from "./actions.ts";
import { choose } from "./choose.ts";
import { Feed, type Connection } from "./feed.ts";
import { keys } from "./keys.ts";
import { make } from "./made.ts";
import { Replay } from "./replay.ts";
import { Stage } from "./stage.ts";
import { theme } from "./theme.ts";
import { times } from "./times.ts";

const STATES: Readonly<Record<Connection, string>> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  ended: "Ended",
};

function debate(main: HTMLElement): () => void {
  const turns = document.getElementById("turns");
  const { seq, last, running, events, atUrl, timeline } = main.dataset;
  if (!turns || !events || !atUrl || !timeline) return () => undefined;
  const shown = Number(seq) || 0;
  const known = Math.max(shown, Number(last) || 0);
  const stage = new Stage(turns);
  // A page of an earlier moment does not know whether the debate still runs. The stream tells.
  const follow = running === "true" || shown < known;
  const replay = new Replay({ timeline, fragments: atUrl }, stage, shown, known);
  const state = make("p", "connection");
  const connection = (now: Connection): void => {
    state.dataset["state"] = now;
    state.textContent = STATES[now];
    replay.running = now !== "ended";
  };
  replay.element.prepend(state);
  document.body.append(replay.element);
  if (follow) {
    new Feed(events, known, {
      changed(said) {
        stage.changed(said);
        replay.grown(said.seq);
      },
      spoken: (said) => stage.spoken(said),
      connection,
    });
  } else {
    connection("ended");
  }
  return () => void replay.leave();
}

theme();
times();
const main = document.querySelector("main");
if (main) actions(main);
keys(main?.id === "debate" ? debate(main) : () => undefined);
const compare = document.getElementById("compare");
if (compare instanceof HTMLFormElement) choose(compare);
// The search shortcut leads here from other pages.
if (location.hash === "#search") document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
