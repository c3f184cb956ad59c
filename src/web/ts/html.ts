// HTML of the server, put into the page so that nothing in it can run. The server has cleaned it and
// the policy of the page forbids scripts; this is the third lock.
import { kept } from "./kept.ts";

interface Policy {
  createHTML(html: string): string;
}
interface Factory {
  createPolicy(name: string, rules: { createHTML(html: string): string }): Policy;
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes;
// Whatever is made by this policy goes through `tamed` below, and nothing else makes HTML here.
const policy: Policy = factory?.createPolicy("debate", { createHTML: (html) => html }) ?? {
  createHTML: (html) => html,
};

const NEVER = "script,style,link,meta,base,iframe,frame,object,embed,template,noscript";
const ADDRESSES = new Set(["href", "src", "action", "formaction", "xlink:href", "srcdoc", "srcset", "data"]);

/** Elements of this HTML, in which nothing runs and nothing leads out of the web. */
export function tamed(html: string): DocumentFragment {
  const parsed = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  for (const element of parsed.body.querySelectorAll(NEVER)) element.remove();
  for (const element of parsed.body.querySelectorAll("*")) {
    for (const { name, value } of [...element.attributes]) {
      const lower = name.toLowerCase();
      const runs = lower.startsWith("on") || lower === "style" || lower === "srcdoc";
      if (runs || (ADDRESSES.has(lower) && !leadsSomewhereHarmless(value))) element.removeAttribute(name);
    }
  }
  const fragment = document.createDocumentFragment();
  fragment.append(...document.adoptNode(parsed.body).childNodes);
  return fragment;
}

function leadsSomewhereHarmless(address: string): boolean {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(address, document.baseURI).protocol);
  } catch {
    return false;
  }
}

/** Replaces the element of this id by the one that came. */
export function replace(id: string, html: string): void {
  const old = document.getElementById(id);
  const fresh = tamed(html).firstElementChild;
  if (!old || fresh?.id !== id) return;
  const restore = kept(old);
  old.replaceWith(fresh);
  restore(fresh);
}

/** Puts an element after the others of its parent, unless it is there. */
export function append(parent: string, id: string, html: string): void {
  if (document.getElementById(id)) return;
  document.getElementById(parent)?.append(tamed(html));
}
