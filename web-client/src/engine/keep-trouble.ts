import type { KeepTrouble } from './types.ts';

/** Explains an error of IndexedDB to the user. */
export function troubleOf(error: unknown): KeepTrouble {
  const name = error instanceof Error ? error.name : '';
  if (name === 'QuotaExceededError') return 'full';
  return name === 'VersionError' ? 'outdated' : 'unavailable';
}
