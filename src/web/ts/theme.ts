// Theme toggle: light, dark, or the system's preference by default.
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

/** Adds the theme toggle to the page header. */
export function theme(): void {
  const toggle = button("theme", "", () => {
    const next = show() === "dark" ? "light" : "dark";
    // A choice equal to the system's preference is deleted, so that the page follows the system
    // again.
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
