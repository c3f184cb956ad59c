// Inserts HTML from the server into the page, after sanitizing it. Third line of defense, after the
// server's sanitizer and the Content Security Policy.
import { saveState } from "./form-state.ts";

interface TrustedTypesPolicy {
  createHTML(html: string): string;
}
interface TrustedTypesFactory {
  createPolicy(name: string, rules: { createHTML(html: string): string }): TrustedTypesPolicy;
}

const factory = (globalThis as { trustedTypes?: TrustedTypesFactory }).trustedTypes;
// All HTML of this policy passes through `sanitize` below.
const policy: TrustedTypesPolicy = factory?.createPolicy("debate", { createHTML: (html) => html }) ?? {
  createHTML: (html) => html,
};

const FORBIDDEN_ELEMENTS = "script,style,link,meta,base,iframe,frame,object,embed,template,noscript";
const URL_ATTRIBUTES = new Set(["href", "src", "action", "formaction", "xlink:href", "srcdoc", "srcset", "data"]);

/** Parses and sanitizes HTML: removes scripts, event handlers and unsafe URLs. */
export function sanitize(html: string): DocumentFragment {
  const parsed = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  for (const element of parsed.body.querySelectorAll(FORBIDDEN_ELEMENTS)) element.remove();
  for (const element of parsed.body.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const lowerName = name.toLowerCase();
      const isExecutable = lowerName.startsWith("on") || lowerName === "style" || lowerName === "srcdoc";
      if (isExecutable || (URL_ATTRIBUTES.has(lowerName) && !isSafeUrl(value))) element.removeAttribute(name);
    }
  }
  const fragment = document.createDocumentFragment();
  fragment.append(...document.adoptNode(parsed.body).childNodes);
  return fragment;
}

function isSafeUrl(url: string): boolean {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(url, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/** Replaces the element with this id, and preserves its form state. */
export function replaceElement(id: string, html: string): void {
  const old = document.getElementById(id);
  const fresh = sanitize(html).firstElementChild;
  if (!old || fresh?.id !== id) return;
  const restore = saveState(old);
  old.replaceWith(fresh);
  restore(fresh);
}

/** Appends an element to its parent, unless its id exists. */
export function appendElement(parent: string, id: string, html: string): void {
  if (document.getElementById(id)) return;
  document.getElementById(parent)?.append(sanitize(html));
}
