import { useStore } from './store.ts';
import { readStored, writeStored } from './stored.ts';

/** The connections that were open when the page was left, by their profiles' ids. */
const KEY = 'apus.open';

/** More than these are not opened at once. */
const OPEN_MAX = 20;

/** Those that the last visit left open. */
export function leftOpen(): readonly string[] {
  const read = readStored(KEY);
  if (!Array.isArray(read)) return [];
  return read.filter((id) => typeof id === 'string').slice(0, OPEN_MAX);
}

/** Stores from now on which connections are open or being opened. */
export function rememberOpen(): void {
  let known: string | undefined;
  useStore.subscribe(({ statuses, profiles }) => {
    const open = profiles.filter(({ id }) => isOpen(statuses[id]?.phase)).map(({ id }) => id);
    const text = open.join();
    if (text === known) return;
    known = text;
    writeStored(KEY, open.slice(0, OPEN_MAX));
  });
}

function isOpen(phase: string | undefined): boolean {
  return phase !== undefined && phase !== 'idle' && phase !== 'failed';
}
