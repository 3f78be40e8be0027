/** The value of the key, perhaps from another version of the page; undefined if it cannot be read. */
export function readStored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null') ?? undefined;
  } catch {
    // Another program has written there, or the browser stores nothing.
    return undefined;
  }
}

/** If the browser has no room, the page goes on without. */
export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {}
}
