// Sends action forms with `fetch`, without leaving the page. Without this script the browser
// submits them itself.
import { announce } from "./announce.ts";
import { createElement } from "./elements.ts";
import { parseOutcome, type ActionOutcome } from "./protocol.ts";

/** Intercepts all action forms below an element, including later ones. */
export function interceptForms(root: HTMLElement): void {
  root.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
    event.preventDefault();
    void submitForm(form, event.submitter);
  });
  root.addEventListener("keydown", (event) => {
    const field = event.target;
    const isSubmitKey = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (isSubmitKey && field instanceof HTMLTextAreaElement) field.form?.requestSubmit();
  });
}

async function submitForm(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.dataset["busy"] === "true") return;
  form.dataset["busy"] = "true";
  form.setAttribute("aria-busy", "true");
  const button = submitter instanceof HTMLButtonElement ? submitter : null;
  const outcome = await postForm(form, new FormData(form, button));
  delete form.dataset["busy"];
  form.removeAttribute("aria-busy");
  // The form may have been replaced meanwhile. Show the response in its successor.
  const target = form.isConnected
    ? form
    : [...document.forms].find((candidate) => candidate.getAttribute("action") === form.getAttribute("action"));
  if (outcome.ok) target?.reset();
  if (target) showOutcome(target, outcome);
  announce(outcome.message);
}

async function postForm(form: HTMLFormElement, data: FormData): Promise<ActionOutcome> {
  const body = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") body.append(name, value);
  try {
    // Not `form.action`, which a field named `action` would shadow.
    const response = await fetch(form.getAttribute("action") ?? "", { method: "POST", body, headers: { accept: "application/json" } });
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return parseOutcome(response.ok, isJson ? await response.json() : undefined);
  } catch {
    return { ok: false, message: "The server did not answer. Nothing may have been done; try again." };
  }
}

function showOutcome(form: HTMLFormElement, { ok, message }: ActionOutcome): void {
  let output = form.querySelector<HTMLElement>(".said");
  if (!output) {
    output = createElement("p", "said");
    form.append(output);
  }
  output.dataset["ok"] = String(ok);
  output.textContent = message;
}
