import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { reasonOf } from '@apus/broker';
import type { RootDatabase } from 'lmdb';
import { DataDirectoryError } from './errors.ts';
import { checkFiles } from './file-check.ts';
import type { Journal } from './journal.ts';
import { FORMAT_KEY, type Kind } from './keys.ts';
import { FORMAT_VERSION } from './limits.ts';
import { Ownership } from './ownership.ts';
import { keepPrivate } from './private-file.ts';
import { Reserve } from './reserve.ts';
import type { Operations } from './writer.ts';

const FILE_NAME = 'apus.mdb';

/** One LMDB file: a sorted map of keys to bytes, changed by transactions that a crash leaves whole. */
export class Database implements Journal {
  readonly #lmdb: RootDatabase<Buffer, string>;
  readonly #path: string;
  readonly #reserve: Reserve;
  readonly #ownership: Ownership;

  private constructor(
    lmdb: RootDatabase<Buffer, string>,
    path: string,
    reserve: Reserve,
    ownership: Ownership,
  ) {
    this.#lmdb = lmdb;
    this.#path = path;
    this.#reserve = reserve;
    this.#ownership = ownership;
  }

  /**
   * From here on no process can write to the file that has opened it before.
   *
   * @throws {DataDirectoryError} when the file is not ours, of another format, or cannot be written.
   */
  static async open(directory: string): Promise<Database> {
    const path = join(directory, FILE_NAME);
    checkFiles(directory, path);
    const lmdb = await openFile(path);
    for (const file of [path, `${path}-lock`]) keepPrivate(file);
    let reserve: Reserve | undefined;
    try {
      reserve = await Reserve.open(path);
      const ownership = await claim(lmdb, path, reserve);
      // The name of the file has to be durable as well.
      syncDirectory(directory);
      return new Database(lmdb, path, reserve, ownership);
    } catch (error) {
      await lmdb.close();
      await reserve?.close();
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
    const write = (): void => {
      for (const [key, value] of operations) {
        if (value === undefined) lmdb.remove(key);
        else lmdb.put(key, value as Buffer);
      }
    };
    await this.#reserve.during(operations, () => this.#ownership.commit(write));
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
    await this.#reserve.close();
  }
}

/** Writes nothing to a foreign file; writes the format into an empty one. */
async function claim(lmdb: RootDatabase<Buffer, string>, path: string, reserve: Reserve): Promise<Ownership> {
  checkFormat(lmdb, path);
  const format = Buffer.from(String(FORMAT_VERSION));
  const write = (): void => void lmdb.put(FORMAT_KEY, format);
  try {
    return await reserve.during(new Map([[FORMAT_KEY, format]]), () => Ownership.claim(lmdb, path, write));
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(`${path} cannot be written: ${reasonOf(error)}.`, { cause: error });
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
  try {
    // Here, so that a program without a data directory never loads the native library.
    const { open } = await import('lmdb');
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

function checkVersion(path: string, version: number): void {
  if (version === FORMAT_VERSION) return;
  if (!Number.isInteger(version)) {
    throw new DataDirectoryError(`${path} is damaged: its format is no number. Restore it, or move it away.`);
  }
  const advice =
    version > FORMAT_VERSION
      ? 'It was written by a newer version of Apus: use that one, or another directory'
      : 'It was written by an older version of Apus: start with an empty directory, or go back to that version';
  throw new DataDirectoryError(
    `${path} has format ${version}, and this version reads format ${FORMAT_VERSION}. ${advice}.`,
  );
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
