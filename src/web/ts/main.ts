// Entry point of the live page's script. The page is readable without it.
import { interceptForms } from "./actions.ts";
import { limitSelection } from "./compare-selection.ts";
import { LiveFeed, type Connection } from "./feed.ts";
import { addShortcuts } from "./keyboard-shortcuts.ts";
import { createElement } from "./elements.ts";
import { Replay } from "./replay.ts";
import { DebateView } from "./debate-view.ts";
import { addThemeToggle } from "./theme.ts";
import { keepTimesUpdated } from "./relative-times.ts";

const CONNECTION_LABELS: Readonly<Record<Connection, string>> = {
  connecting: "Connecting",
  live: "Live",
  reconnecting: "Reconnecting",
  ended: "Ended",
};

function startDebatePage(main: HTMLElement): () => void {
  const turns = document.getElementById("turns");
  const { seq, last, running, events, atUrl, timeline } = main.dataset;
  if (!turns || !events || !atUrl || !timeline) return () => undefined;
  const shown = Number(seq) || 0;
  const known = Math.max(shown, Number(last) || 0);
  const stage = new DebateView(turns);
  // A page of an earlier moment does not know whether the debate still runs. The stream tells.
  const follow = running === "true" || shown < known;
  const replay = new Replay({ timeline, fragments: atUrl }, stage, shown, known);
  const state = createElement("p", "connection");
  const connection = (now: Connection): void => {
    state.dataset["state"] = now;
    state.textContent = CONNECTION_LABELS[now];
    replay.running = now !== "ended";
  };
  replay.element.prepend(state);
  document.body.append(replay.element);
  if (follow) {
    new LiveFeed(events, known, {
      onUpdate(said) {
        stage.applyUpdate(said);
        replay.onEvent(said.seq);
      },
      onLiveText: (said) => stage.applyLiveText(said),
      onConnection: connection,
    });
  } else {
    connection("ended");
  }
  return () => void replay.returnToEnd();
}

addThemeToggle();
keepTimesUpdated();
const main = document.querySelector("main");
if (main) interceptForms(main);
addShortcuts(main?.id === "debate" ? startDebatePage(main) : () => undefined);
const compare = document.getElementById("compare");
if (compare instanceof HTMLFormElement) limitSelection(compare);
// The search shortcut leads here from other pages.
if (location.hash === "#search") document.querySelector<HTMLInputElement>("input[type=search]")?.focus();
