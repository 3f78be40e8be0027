/** The data directory cannot be used: says which, why, and what to do. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}

/**
 * A write has failed, so nothing is acknowledged any more: every call that would promise durability fails with this
 * until the process is restarted. Everything that was acknowledged before is on the disk.
 */
export class DiskError extends Error {
  override readonly name = 'DiskError';
}

/** As `ENOSPC`; undefined for an error that has none. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
