// Sends action forms with `fetch`, without leaving the page. Without this script the browser
// submits them itself.
import { announce } from "./announce.ts";
import { createElement } from "./elements.ts";
import { parseOutcome, type ActionOutcome } from "./protocol.ts";

/** Intercepts all action forms below an element, including later ones. */
export function interceptForms(below: HTMLElement): void {
  below.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
    event.preventDefault();
    void submitForm(form, event.submitter);
  });
  below.addEventListener("keydown", (event) => {
    const field = event.target;
    const asked = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (asked && field instanceof HTMLTextAreaElement) field.form?.requestSubmit();
  });
}

async function submitForm(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.dataset["busy"] === "true") return;
  form.dataset["busy"] = "true";
  form.setAttribute("aria-busy", "true");
  const button = submitter instanceof HTMLButtonElement ? submitter : null;
  const said = await postForm(form, new FormData(form, button));
  delete form.dataset["busy"];
  form.removeAttribute("aria-busy");
  // The form may have been replaced meanwhile. Show the response in its successor.
  const there = form.isConnected
    ? form
    : [...document.forms].find((other) => other.getAttribute("action") === form.getAttribute("action"));
  if (said.ok) there?.reset();
  if (there) showOutcome(there, said);
  announce(said.message);
}

async function postForm(form: HTMLFormElement, data: FormData): Promise<ActionOutcome> {
  const body = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") body.append(name, value);
  try {
    // Not `form.action`, which a field named `action` would shadow.
    const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body, headers: { accept: "application/json" } });
    const json = answer.headers.get("content-type")?.includes("json") ?? false;
    return parseOutcome(answer.ok, json ? await answer.json() : undefined);
  } catch {
    return { ok: false, message: "The server did not answer. Nothing may have been done; try again." };
  }
}

function showOutcome(form: HTMLFormElement, { ok, message: said }: ActionOutcome): void {
  let place = form.querySelector<HTMLElement>(".said");
  if (!place) {
    place = createElement("p", "said");
    form.append(place);
  }
  place.dataset["ok"] = String(ok);
  place.textContent = said;
}
