// Helpers that create elements.

/** Creates an element with a class and text. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
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
export function createButton(className: string, words: string, press: () => void): HTMLButtonElement {
  const made = createElement("button", className, words);
  made.type = "button";
  made.addEventListener("click", press);
  return made;
}
