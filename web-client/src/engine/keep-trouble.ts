import type { KeepTrouble } from './types.ts';

/** The meaning of an error of IndexedDB for the user. */
export function troubleOf(error: unknown): KeepTrouble {
  const name = error instanceof Error ? error.name : '';
  if (name === 'QuotaExceededError') return 'full';
  return name === 'VersionError' ? 'outdated' : 'unavailable';
}
