import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';

/** The mode of a new file: it holds a secret, or hashes of passwords. */
const MODE = 0o600;

/**
 * Replaces the content of a file atomically: a process that reads it finds the old content or the new one, even after a
 * crash of the machine. The file keeps its mode. `change` gets the present content, undefined if there is no file. If
 * it throws, the file stays unchanged. The new content is first written to a file beside it, which only one process can
 * create at a time: so no command undoes the change of another. A link stays a link.
 */
export function replaceFile(link: string, change: (before: string | undefined) => string): void {
  const path = existsSync(link) ? realpathSync(link) : link;
  const beside = `${path}.new`;
  const file = openNew(beside);
  try {
    try {
      writeSync(file, change(readIfThere(path)));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(beside, modeOf(path));
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}

function openNew(path: string): number {
  try {
    return openSync(path, 'wx', MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`${path} is there: another command writes it now, or has died. Then remove it.`, {
      cause: error,
    });
  }
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? MODE) & 0o777;
}
