import type { KeepTrouble } from './types.ts';

/** What an error of IndexedDB means to the user. */
export function troubleOf(error: unknown): KeepTrouble {
  const name = error instanceof Error ? error.name : '';
  if (name === 'QuotaExceededError') return 'full';
  return name === 'VersionError' ? 'outdated' : 'unavailable';
}
