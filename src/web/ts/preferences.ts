// Reader's preferences in `localStorage`, or in memory if storage is blocked.

const fallback = new Map<string, string>();

export function getPreference(wish: string): string | undefined {
  try {
    return localStorage.getItem(`debate.${wish}`) ?? undefined;
  } catch {
    return fallback.get(wish);
  }
}

/** Stores a preference. `undefined` deletes it. */
export function setPreference(wish: string, value: string | undefined): void {
  if (value === undefined) fallback.delete(wish);
  else fallback.set(wish, value);
  try {
    if (value === undefined) localStorage.removeItem(`debate.${wish}`);
    else localStorage.setItem(`debate.${wish}`, value);
  } catch {
    // Storage may be blocked in private windows. The map above is the fallback.
  }
}
