// Helpers that create elements.

/** Creates an element with a class and text. */
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

/** Creates a button with a click handler. */
export function button(className: string, words: string, press: () => void): HTMLButtonElement {
  const made = make("button", className, words);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}
