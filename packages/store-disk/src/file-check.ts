import { closeSync, fstatSync, openSync, rmSync, type Stats, writeSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@apus/broker';
import { codeOf, DataDirectoryError } from './errors.ts';
import { PROBE_BYTES, TABLE_BYTES_MAX } from './limits.ts';
import { checkPages } from './page-check.ts';
import { PageError } from './page-format.ts';

/** LMDB's table of readers, which it makes beside the data file. */
const TABLE_SUFFIX = '-lock';
const PROBE_NAME = 'apus.probe';
/** As LMDB opens them: the data file twice, and the table. */
const FILES_OPEN = 3;

/**
 * Looks at what LMDB is about to trust. LMDB would read any data file as a map of its pages; and where it cannot open
 * or extend a file, `lmdb` uses memory that it has freed. Each ends the process with a signal.
 *
 * @throws {DataDirectoryError} when the data file is not one, or one of the files cannot be opened or written
 */
export function checkFiles(directory: string, path: string): void {
  try {
    checkPages(path);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw errorOf(path, error);
  }
  checkTable(`${path}${TABLE_SUFFIX}`);
  checkRoom(directory);
}

function errorOf(path: string, error: unknown): DataDirectoryError {
  const isBroken = error instanceof PageError;
  const what = isBroken ? 'is not a data file of Apus, or is damaged' : 'cannot be opened';
  const advice = isBroken ? ' Restore it, or move it away.' : '';
  return new DataDirectoryError(`${path} ${what}: ${reasonOf(error)}.${advice}`, { cause: error });
}

/** LMDB fills it anew, and maps all of it. */
function checkTable(path: string): void {
  const stats = statOf(path);
  if (stats.isFile() && stats.size <= TABLE_BYTES_MAX) return;
  throw new DataDirectoryError(`${path} is not the table of LMDB. Remove it, or use another directory.`);
}

function statOf(path: string): Stats {
  let file: number | undefined;
  try {
    file = openSync(path, 'a+');
    return fstatSync(file);
  } catch (error) {
    throw errorOf(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Whether the disk takes as much as LMDB writes to open its files, and the process may open as many. */
function checkRoom(directory: string): void {
  const path = join(directory, PROBE_NAME);
  const files: number[] = [];
  try {
    while (files.length < FILES_OPEN) files.push(openSync(path, 'w', 0o600));
    for (let left = PROBE_BYTES; left > 0; ) left -= writeSync(files[0] ?? 0, Buffer.alloc(left));
  } catch (error) {
    throw new DataDirectoryError(`${directory} cannot be written: ${reasonOf(error)}.`, { cause: error });
  } finally {
    for (const file of files) closeSync(file);
    if (files.length > 0) rmSync(path, { force: true });
  }
}
