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
  const shownSeq = Number(seq) || 0;
  const lastSeq = Math.max(shownSeq, Number(last) || 0);
  const view = new DebateView(turns);
  // A page of an earlier moment does not know whether the debate still runs. The stream tells.
  const shouldFollow = running === "true" || shownSeq < lastSeq;
  const replay = new Replay({ timeline, fragments: atUrl }, view, shownSeq, lastSeq);
  const connectionLabel = createElement("p", "connection");
  const showConnection = (state: Connection): void => {
    connectionLabel.dataset["state"] = state;
    connectionLabel.textContent = CONNECTION_LABELS[state];
    replay.running = state !== "ended";
  };
  replay.element.prepend(connectionLabel);
  document.body.append(replay.element);
  if (shouldFollow) {
    new LiveFeed(events, lastSeq, {
      onUpdate(update) {
        view.applyUpdate(update);
        replay.onEvent(update.seq);
      },
      onLiveText: (update) => view.applyLiveText(update),
      onConnection: showConnection,
    });
  } else {
    showConnection("ended");
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
