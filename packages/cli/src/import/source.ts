import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CommandError } from '../commands/command.ts';

/** Bytes of one file of another broker: users by the ten thousand. */
export const FILE_BYTES_MAX = 8 * 1024 * 1024;

/** Users of one import: each costs a scrypt of some 50 ms, and so ten minutes at most. */
export const USERS_MAX = 10_000;

/** Lines of the report about what was left out. The rest is counted. */
export const NOTES_MAX = 200;

export interface Line {
  readonly text: string;
  /** `FILE:LINE`, for sentences. */
  readonly where: string;
}

/** @throws {CommandError} for a file that cannot be read, or is too large */
export function readSource(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    if (!fstatSync(file).isFile()) throw new Error('it is no file');
    const bytes = Buffer.alloc(FILE_BYTES_MAX + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > FILE_BYTES_MAX) throw new Error(`it has more than ${FILE_BYTES_MAX} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The lines that say something: without those that are empty, or begin with `#`. */
export function linesOf(text: string, path: string): readonly Line[] {
  return text
    .split(/\r?\n/)
    .map((line, index) => ({ text: line.trim(), where: `${path}:${index + 1}` }))
    .filter((line) => line.text !== '' && !line.text.startsWith('#'));
}

/** @throws {CommandError} */
export function refuseMore(count: number, path: string): void {
  if (count > USERS_MAX) throw new CommandError(`${path} has more than ${USERS_MAX} users.`);
}
