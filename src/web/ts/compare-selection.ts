// Limits the comparison form to two checked debates.

export function limitSelection(form: HTMLFormElement): void {
  const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
  const boxes = [...form.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  if (!button) return;
  const readyLabel = button.textContent;
  const update = (): void => {
    const checkedCount = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.disabled = checkedCount >= 2 && !box.checked;
    button.disabled = checkedCount !== 2;
    button.textContent = ["Choose two to compare", "Choose another to compare"][checkedCount] ?? readyLabel;
  };
  form.addEventListener("change", update);
  // The browser restores checkboxes when the user navigates back.
  window.addEventListener("pageshow", update);
  update();
}
