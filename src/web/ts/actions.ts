// Sends action forms with `fetch`, without leaving the page. Without this script the browser
// submits them itself.
import { announce } from "./announce.ts";
import { make } from "./made.ts";
import { outcome, type Outcome } from "./wire.ts";

/** Intercepts all action forms below an element, including later ones. */
export function actions(below: HTMLElement): void {
  below.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.method !== "post") return;
    event.preventDefault();
    void send(form, event.submitter);
  });
  below.addEventListener("keydown", (event) => {
    const field = event.target;
    const asked = event.key === "Enter" && (event.ctrlKey || event.metaKey);
    if (asked && field instanceof HTMLTextAreaElement) field.form?.requestSubmit();
  });
}

async function send(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  if (form.dataset["busy"] === "true") return;
  form.dataset["busy"] = "true";
  form.setAttribute("aria-busy", "true");
  const button = submitter instanceof HTMLButtonElement ? submitter : null;
  const said = await asked(form, new FormData(form, button));
  delete form.dataset["busy"];
  form.removeAttribute("aria-busy");
  // The form may have been replaced meanwhile. Show the response in its successor.
  const there = form.isConnected
    ? form
    : [...document.forms].find((other) => other.getAttribute("action") === form.getAttribute("action"));
  if (said.ok) there?.reset();
  if (there) show(there, said);
  announce(said.said);
}

async function asked(form: HTMLFormElement, data: FormData): Promise<Outcome> {
  const body = new URLSearchParams();
  for (const [name, value] of data) if (typeof value === "string") body.append(name, value);
  try {
    // Not `form.action`, which a field named `action` would shadow.
    const answer = await fetch(form.getAttribute("action") ?? "", { method: "POST", body, headers: { accept: "application/json" } });
    const json = answer.headers.get("content-type")?.includes("json") ?? false;
    return outcome(answer.ok, json ? await answer.json() : undefined);
  } catch {
    return { ok: false, said: "The server did not answer. Nothing may have been done; try again." };
  }
}

function show(form: HTMLFormElement, { ok, said }: Outcome): void {
  let place = form.querySelector<HTMLElement>(".said");
  if (!place) {
    place = make("p", "said");
    form.append(place);
  }
  place.dataset["ok"] = String(ok);
  place.textContent = said;
}
