// The few wishes a reader has about the page, kept in the browser. Where that is forbidden they hold
// for as long as the page is open.

const now = new Map<string, string>();

export function remembered(wish: string): string | undefined {
  try {
    return localStorage.getItem(`debate.${wish}`) ?? undefined;
  } catch {
    return now.get(wish);
  }
}

/** Keeps a wish, or forgets it. */
export function remember(wish: string, value: string | undefined): void {
  if (value === undefined) now.delete(wish);
  else now.set(wish, value);
  try {
    if (value === undefined) localStorage.removeItem(`debate.${wish}`);
    else localStorage.setItem(`debate.${wish}`, value);
  } catch {
    // Private windows may have no storage; the map above is enough for them.
  }
}
