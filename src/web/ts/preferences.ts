// Reader's preferences in `localStorage`, or in memory if storage is blocked.

const fallback = new Map<string, string>();

export function getPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(`debate.${name}`) ?? undefined;
  } catch {
    return fallback.get(name);
  }
}

/** Stores a preference. `undefined` deletes it. */
export function setPreference(name: string, value: string | undefined): void {
  if (value === undefined) fallback.delete(name);
  else fallback.set(name, value);
  try {
    if (value === undefined) localStorage.removeItem(`debate.${name}`);
    else localStorage.setItem(`debate.${name}`, value);
  } catch {
    // Storage may be blocked in private windows. The map above is the fallback.
  }
}
