// Keyboard shortcuts and their help dialog. Single-letter shortcuts can be switched off, because
// they interfere with speech input.
import { createButton, createElement } from "./elements.ts";
import { setPreference, getPreference } from "./preferences.ts";

const SHORTCUTS: readonly (readonly [string, string])[] = [
  ["j", "next turn"],
  ["k", "turn before"],
  ["g", "first turn"],
  ["e", "end of the debate"],
  ["/", "search"],
  ["?", "this help"],
  ["Space", "play or pause, in the replay"],
  ["← →", "one moment back or on, in the replay"],
  ["Ctrl Enter", "send what is written"],
];

const areShortcutsOff = (): boolean => getPreference("keys") === "off";

export function addShortcuts(end: () => void): void {
  const help = createHelpDialog();
  const acts: Readonly<Record<string, () => void>> = {
    j: () => focusTurn(1),
    k: () => focusTurn(-1),
    g: () => focusTurn(-Infinity),
    e: end,
    "/": focusSearch,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (!act || areShortcutsOff() || event.ctrlKey || event.metaKey || event.altKey || isTextInput(event.target) || help.open) return;
    event.preventDefault();
    act();
  });
  const open = createButton("help", "?", () => help.showModal());
  open.setAttribute("aria-label", "Keys");
  open.title = "Keys";
  document.querySelector("header")?.append(open);
  document.body.append(help);
}

function isTextInput(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target.matches("textarea,select");
}

/** Focuses the turn that many steps from the current one. */
function focusTurn(by: number): void {
  const turns = [...document.querySelectorAll<HTMLElement>("#turns article")];
  const focused = turns.findIndex((turn) => turn.contains(document.activeElement));
  const seen = turns.findIndex((turn) => turn.getBoundingClientRect().bottom > 80);
  const from = focused >= 0 ? focused : by > 0 ? seen - 1 : seen;
  const turn = turns[Math.max(0, Math.min(from + by, turns.length - 1))];
  if (!turn) return;
  turn.tabIndex = -1;
  turn.focus({ preventScroll: true });
  turn.scrollIntoView({ block: "start", behavior: "instant" });
}

function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) field.select();
  else location.assign("/#search");
}

function createHelpDialog(): HTMLDialogElement {
  const made = createElement("dialog", "keys");
  made.setAttribute("aria-labelledby", "keys-title");
  const title = createElement("h2", "", "Keys");
  title.id = "keys-title";
  const list = createElement("dl", "");
  for (const [key, does] of SHORTCUTS) {
    const row = createElement("div", "");
    const term = createElement("dt", "");
    for (const part of key.split(" ")) term.append(createElement("kbd", "", part), " ");
    row.append(term, createElement("dd", "", does));
    list.append(row);
  }
  const wish = createElement("label", "");
  const box = createElement("input", "");
  box.type = "checkbox";
  box.checked = !areShortcutsOff();
  box.addEventListener("change", () => setPreference("keys", box.checked ? undefined : "off"));
  wish.append(box, " Single letters are keys");
  const note = createElement("p", "", "In a replay, pauses of more than five seconds are cut.");
  made.append(title, list, note, wish, createButton("close", "Close", () => made.close()));
  // A click on the backdrop closes the dialog.
  made.addEventListener("click", (event) => event.target === made && made.close());
  return made;
}
