// Limits the comparison form to two checked debates.

export function limitSelection(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  const boxes = [...form.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  if (!button) return;
  const ready = button.textContent;
  const draw = (): void => {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.disabled = chosen >= 2 && !box.checked;
    button.disabled = chosen !== 2;
    button.textContent = ["Choose two to compare", "Choose another to compare"][chosen] ?? ready;
  };
  form.addEventListener("change", draw);
  // The browser restores checkboxes when the user navigates back.
  window.addEventListener("pageshow", draw);
  draw();
}
