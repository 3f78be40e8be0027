import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { codeOf, DataDirectoryError, reasonOf } from './errors.ts';
import type { Journal } from './journal.ts';
import { FORMAT_KEY, type Kind } from './keys.ts';
import { FORMAT_VERSION } from './limits.ts';
import { Ownership } from './ownership.ts';
import { checkPages, PageError } from './page-check.ts';
import type { Operations } from './writer.ts';

const FILE_NAME = 'apus.mdb';

/** One LMDB file: a sorted map of keys to bytes, changed by transactions that a crash leaves whole. */
export class Database implements Journal {
  readonly #lmdb: RootDatabase<Buffer, string>;
  readonly #path: string;
  readonly #ownership: Ownership;

  private constructor(lmdb: RootDatabase<Buffer, string>, path: string, ownership: Ownership) {
    this.#lmdb = lmdb;
    this.#path = path;
    this.#ownership = ownership;
  }

  /**
   * From here on no process can write to the file that has opened it before.
   *
   * @throws {DataDirectoryError} when the file is not ours, of another format, or cannot be written.
   */
  static async open(directory: string): Promise<Database> {
    const path = join(directory, FILE_NAME);
    checkFile(path);
    const lmdb = await openFile(path);
    try {
      const ownership = await claim(lmdb, path);
      // The name of the file has to be durable as well.
      syncDirectory(directory);
      return new Database(lmdb, path, ownership);
    } catch (error) {
      await lmdb.close();
      throw error;
    }
  }

  /**
   * Resolves when all operations are durable. If it rejects, none of them was made.
   *
   * @throws {DiskError} when another process has opened the file since.
   */
  async commit(operations: Operations): Promise<void> {
    const lmdb = this.#lmdb;
    try {
      await this.#ownership.commit(() => {
        for (const [key, value] of operations) {
          if (value === undefined) lmdb.remove(key);
          else lmdb.put(key, value as Buffer);
        }
      });
    } catch (error) {
      throw await commitErrorOf(error);
    }
  }

  /** Everything of one kind in the order of the keys, from `from` on. */
  *scan(kind: Kind, from: string = kind): Generator<readonly [key: string, value: Buffer], void, undefined> {
    const end = String.fromCharCode(kind.charCodeAt(0) + 1);
    for (const { key, value } of this.#lmdb.getRange({ start: from, end })) yield [key, value];
  }

  /**
   * The error for an unreadable record: `where` names it in half a sentence. A DataDirectoryError is returned as it is.
   */
  damage(where: string, error: unknown): DataDirectoryError {
    if (error instanceof DataDirectoryError) return error;
    return new DataDirectoryError(
      `${this.#path} is damaged: ${where} cannot be read (${reasonOf(error)}). Restore it, or move it away.`,
      { cause: error },
    );
  }

  async close(): Promise<void> {
    await this.#lmdb.close();
  }
}

/** Writes nothing to a foreign file; writes the format into an empty one. */
async function claim(lmdb: RootDatabase<Buffer, string>, path: string): Promise<Ownership> {
  checkFormat(lmdb, path);
  try {
    return await Ownership.claim(lmdb, path, () => {
      lmdb.put(FORMAT_KEY, Buffer.from(String(FORMAT_VERSION)));
    });
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    const cause = await commitErrorOf(error);
    throw new DataDirectoryError(`${path} cannot be written: ${reasonOf(cause)}.`, { cause });
  }
}

function checkFormat(lmdb: RootDatabase<Buffer, string>, path: string): void {
  const stored = lmdb.get(FORMAT_KEY);
  if (stored !== undefined) checkVersion(path, Number(stored.toString()));
  else if (lmdb.getKeysCount() > 0) {
    throw new DataDirectoryError(`${path} holds something that Apus did not write. Use another directory.`);
  }
}

async function openFile(path: string): Promise<RootDatabase<Buffer, string>> {
  // Here, so that a program without a data directory never loads the native library.
  const { open } = await import('lmdb');
  try {
    return open<Buffer, string>({
      path,
      noSubdir: true,
      maxDbs: 1,
      encoding: 'binary',
      // Answers a commit after its fsync, not before.
      overlappingSync: false,
      // The writer makes batches; LMDB's own would reject a second time without a handler.
      eventTurnBatching: false,
    });
  } catch (error) {
    throw new DataDirectoryError(`${path} cannot be opened: ${reasonOf(error)}.`, { cause: error });
  }
}

/** LMDB would read any file as a map of its pages, and crash. */
function checkFile(path: string): void {
  try {
    checkPages(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    const isBroken = error instanceof PageError;
    const what = isBroken ? 'is not a data file of Apus, or is damaged' : 'cannot be opened';
    const advice = isBroken ? ' Restore it, or move it away.' : '';
    throw new DataDirectoryError(`${path} ${what}: ${reasonOf(error)}.${advice}`, { cause: error });
  }
}

function checkVersion(path: string, version: number): void {
  if (version === FORMAT_VERSION) return;
  const advice =
    version > FORMAT_VERSION
      ? 'It was written by a newer version of Apus: use that one, or another directory'
      : 'It was written by an older version of Apus: start with an empty directory, or go back to that version';
  throw new DataDirectoryError(
    `${path} has format ${version}, and this version reads format ${FORMAT_VERSION}. ${advice}.`,
  );
}

/** LMDB says only that a commit failed; the reason is in a promise beside it. */
async function commitErrorOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  try {
    await error.commitError;
  } catch (reason) {
    return reason;
  }
  return error;
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
