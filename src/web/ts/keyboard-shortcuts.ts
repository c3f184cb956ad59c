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

export function addShortcuts(goToEnd: () => void): void {
  const help = createHelpDialog();
  const actions: Readonly<Record<string, () => void>> = {
    j: () => focusTurn(1),
    k: () => focusTurn(-1),
    g: () => focusTurn(-Infinity),
    e: goToEnd,
    "/": focusSearch,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action || areShortcutsOff() || event.ctrlKey || event.metaKey || event.altKey || isTextInput(event.target) || help.open) return;
    event.preventDefault();
    action();
  });
  const helpButton = createButton("help", "?", () => help.showModal());
  helpButton.setAttribute("aria-label", "Keys");
  helpButton.title = "Keys";
  document.querySelector("header")?.append(helpButton);
  document.body.append(help);
}

function isTextInput(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target.matches("textarea,select");
}

/** Focuses the turn that many steps from the current one. */
function focusTurn(offset: number): void {
  const turns = [...document.querySelectorAll<HTMLElement>("#turns article")];
  const focused = turns.findIndex((turn) => turn.contains(document.activeElement));
  const firstVisible = turns.findIndex((turn) => turn.getBoundingClientRect().bottom > 80);
  const start = focused >= 0 ? focused : offset > 0 ? firstVisible - 1 : firstVisible;
  const turn = turns[Math.max(0, Math.min(start + offset, turns.length - 1))];
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
  const dialog = createElement("dialog", "keys");
  dialog.setAttribute("aria-labelledby", "keys-title");
  const title = createElement("h2", "", "Keys");
  title.id = "keys-title";
  const list = createElement("dl", "");
  for (const [key, description] of SHORTCUTS) {
    const row = createElement("div", "");
    const term = createElement("dt", "");
    for (const part of key.split(" ")) term.append(createElement("kbd", "", part), " ");
    row.append(term, createElement("dd", "", description));
    list.append(row);
  }
  const label = createElement("label", "");
  const checkbox = createElement("input", "");
  checkbox.type = "checkbox";
  checkbox.checked = !areShortcutsOff();
  checkbox.addEventListener("change", () => setPreference("keys", checkbox.checked ? undefined : "off"));
  label.append(checkbox, " Single letters are keys");
  const note = createElement("p", "", "In a replay, pauses of more than five seconds are cut.");
  dialog.append(title, list, note, label, createButton("close", "Close", () => dialog.close()));
  // A click on the backdrop closes the dialog.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  return dialog;
}
