// Light or dark: what the system prefers, until the reader says otherwise.
import { button } from "./made.ts";
import { remember, remembered } from "./memory.ts";

type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const system = (): Theme => (dark.matches ? "dark" : "light");

function chosen(): Theme | undefined {
  const kept = remembered("theme");
  return kept === "light" || kept === "dark" ? kept : undefined;
}

function show(): Theme {
  const choice = chosen();
  if (choice) document.documentElement.dataset["theme"] = choice;
  else delete document.documentElement.dataset["theme"];
  return choice ?? system();
}

/** Puts the switch into the head of the page. */
export function theme(): void {
  const toggle = button("theme", "", () => {
    const next = show() === "dark" ? "light" : "dark";
    // Whoever comes back to what the system prefers follows it again.
    remember("theme", next === system() ? undefined : next);
    name();
  });
  const name = (): void => {
    const now = show();
    toggle.textContent = now === "dark" ? "☾" : "☀";
    toggle.setAttribute("aria-label", `Theme: ${now}. Change to ${now === "dark" ? "light" : "dark"}.`);
    toggle.title = now === "dark" ? "Light theme" : "Dark theme";
  };
  name();
  dark.addEventListener("change", name);
  document.querySelector("header")?.append(toggle);
}
