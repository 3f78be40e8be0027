import { chmodSync, statSync } from 'node:fs';

/** The bits of a mode for users other than the owner and the owner's group. */
const OTHERS = 0o007;

/**
 * Takes a file or a folder from the other users of this machine: it has messages and sessions in it. The owner alone
 * can: what belongs to somebody else stays as it is. [SEC-DISK-1]
 */
export function keepPrivate(path: string): void {
  const { mode, uid } = statSync(path);
  if ((mode & OTHERS) === 0 || uid !== process.getuid?.()) return;
  chmodSync(path, mode & 0o7777 & ~OTHERS);
}
