// Keyboard shortcuts and their help dialog. Single-letter shortcuts can be switched off, because
// they interfere with speech input.
import { button, make } from "./made.ts";
import { remember, remembered } from "./memory.ts";

const HELP: readonly (readonly [string, string])[] = [
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

const off = (): boolean => remembered("keys") === "off";

export function keys(end: () => void): void {
  const help = dialog();
  const acts: Readonly<Record<string, () => void>> = {
    j: () => step(1),
    k: () => step(-1),
    g: () => step(-Infinity),
    e: end,
    "/": search,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
    if (!act || off() || event.ctrlKey || event.metaKey || event.altKey || writing(event.target) || help.open) return;
    event.preventDefault();
    act();
  });
  const open = button("help", "?", () => help.showModal());
  open.setAttribute("aria-label", "Keys");
  open.title = "Keys";
  document.querySelector("header")?.append(open);
  document.body.append(help);
}

function writing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["range", "checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target.matches("textarea,select");
}

/** Focuses the turn that many steps from the current one. */
function step(by: number): void {
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

function search(): void {
  const field = document.querySelector<HTMLInputElement>("input[type=search]");
  if (field) field.select();
  else location.assign("/#search");
}

function dialog(): HTMLDialogElement {
  const made = make("dialog", "keys");
  made.setAttribute("aria-labelledby", "keys-title");
  const title = make("h2", "", "Keys");
  title.id = "keys-title";
  const list = make("dl", "");
  for (const [key, does] of HELP) {
    const row = make("div", "");
    const term = make("dt", "");
    for (const part of key.split(" ")) term.append(make("kbd", "", part), " ");
    row.append(term, make("dd", "", does));
    list.append(row);
  }
  const wish = make("label", "");
  const box = make("input", "");
  box.type = "checkbox";
  box.checked = !off();
  box.addEventListener("change", () => remember("keys", box.checked ? undefined : "off"));
  wish.append(box, " Single letters are keys");
  const note = make("p", "", "In a replay, pauses of more than five seconds are cut.");
  made.append(title, list, note, wish, button("close", "Close", () => made.close()));
  // A click on the backdrop closes the dialog.
  made.addEventListener("click", (event) => event.target === made && made.close());
  return made;
}
