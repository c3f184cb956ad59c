// Preserves the state of form fields, open `details`, focus and selection when an element is
// replaced.

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const FIELDS = "textarea,select,input:not([type=hidden])";

/** Saves the state. The returned function restores it in the new element. */
export function saveState(old: Element): (fresh: Element | null) => void {
  const fields = new Map([...old.querySelectorAll<Field>(FIELDS)].map((field) => [elementKey(field), fieldState(field)]));
  const openStates = [...old.querySelectorAll("details")].map((details) => [detailsKey(details), details.open] as const);
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const caret = focused instanceof HTMLTextAreaElement ? [focused.selectionStart, focused.selectionEnd] as const : null;
  const focusedKey = focused && elementKey(focused);
  return (fresh) => {
    if (!fresh) return;
    for (const field of fresh.querySelectorAll<Field>(FIELDS)) restoreField(field, fields.get(elementKey(field)));
    for (const details of fresh.querySelectorAll("details")) {
      const saved = openStates.find(([title]) => title === detailsKey(details));
      if (saved) details.open = saved[1];
    }
    if (!focusedKey) return;
    const candidates = [...fresh.querySelectorAll<HTMLElement>("a,button,summary,[tabindex]," + FIELDS)];
    const restored = candidates.find((element) => elementKey(element) === focusedKey);
    restored?.focus({ preventScroll: true });
    if (caret && restored instanceof HTMLTextAreaElement) restored.setSelectionRange(...caret);
  };
}

interface FieldState {
  value: string;
  checked: boolean;
  touched: boolean;
}

function fieldState(field: Field): FieldState {
  const checked = field instanceof HTMLInputElement && field.checked;
  const touched =
    field instanceof HTMLSelectElement
      ? [...field.options].some((option) => option.selected !== option.defaultSelected)
      : field.value !== field.defaultValue || checked !== (field instanceof HTMLInputElement && field.defaultChecked);
  return { value: field.value, checked, touched };
}

function restoreField(field: Field, saved: FieldState | undefined): void {
  if (!saved?.touched) return;
  if (field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type)) field.checked = saved.checked;
  else field.value = saved.value;
}

/** Key that identifies an element in the old and the new markup. */
function elementKey(element: Element): string {
  const form = element.closest("form");
  // Two turns may be due at once, each with its own form.
  const turn = form?.querySelector<HTMLInputElement>("input[name=turn]")?.value;
  const identifier = element.id || element.getAttribute("name") || element.getAttribute("href");
  const value = element instanceof HTMLInputElement && element.type === "radio" ? element.value : "";
  const action = form?.getAttribute("action");
  return [action, turn, element.tagName, identifier ?? element.textContent, value].join(" ");
}

const detailsKey = (details: HTMLDetailsElement): string =>
  details.id || details.querySelector("summary")?.textContent || "";
