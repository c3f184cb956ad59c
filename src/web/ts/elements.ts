// Helpers that create elements.

/** Creates an element with a class and text. */
export function createElement<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className: string,
  text = "",
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/** Creates a button with a click handler. */
export function createButton(className: string, text: string, onClick: () => void): HTMLButtonElement {
  const button = createElement("button", className, text);
  button.type = "button";
  button.addEventListener("click", onClick);
  return button;
}
