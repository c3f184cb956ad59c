// Elements the page has only where scripts run.

/** An element with a class and words. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  words = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (words) made.textContent = words;
  return made;
}

/** A button that does something. */
export function button(className: string, words: string, press: () => void): HTMLButtonElement {
  const made = make("button", className, words);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}
