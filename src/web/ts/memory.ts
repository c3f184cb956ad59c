// Reader's preferences in `localStorage`, or in memory if storage is blocked.

const now = new Map<string, string>();

export function remembered(wish: string): string | undefined {
  try {
    return localStorage.getItem(`debate.${wish}`) ?? undefined;
  } catch {
    return now.get(wish);
  }
}

/** Stores a preference. `undefined` deletes it. */
export function remember(wish: string, value: string | undefined): void {
  if (value === undefined) now.delete(wish);
  else now.set(wish, value);
  try {
    if (value === undefined) localStorage.removeItem(`debate.${wish}`);
    else localStorage.setItem(`debate.${wish}`, value);
  } catch {
    // Storage may be blocked in private windows. The map above is the fallback.
  }
}
