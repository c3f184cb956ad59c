// Theme toggle: light, dark, or the system's preference by default.
import { createButton } from "./elements.ts";
import { setPreference, getPreference } from "./preferences.ts";

type Theme = "light" | "dark";

const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const systemTheme = (): Theme => (prefersDark.matches ? "dark" : "light");

function storedTheme(): Theme | undefined {
  const stored = getPreference("theme");
  return stored === "light" || stored === "dark" ? stored : undefined;
}

function applyTheme(): Theme {
  const choice = storedTheme();
  if (choice) document.documentElement.dataset["theme"] = choice;
  else delete document.documentElement.dataset["theme"];
  return choice ?? systemTheme();
}

/** Adds the theme toggle to the page header. */
export function addThemeToggle(): void {
  const toggle = createButton("theme", "", () => {
    const next = applyTheme() === "dark" ? "light" : "dark";
    // A choice equal to the system's preference is deleted, so that the page follows the system
    // again.
    setPreference("theme", next === systemTheme() ? undefined : next);
    updateLabel();
  });
  const updateLabel = (): void => {
    const theme = applyTheme();
    toggle.textContent = theme === "dark" ? "☾" : "☀";
    toggle.setAttribute("aria-label", `Theme: ${theme}. Change to ${theme === "dark" ? "light" : "dark"}.`);
    toggle.title = theme === "dark" ? "Light theme" : "Dark theme";
  };
  updateLabel();
  prefersDark.addEventListener("change", updateLabel);
  document.querySelector("header")?.append(toggle);
}
