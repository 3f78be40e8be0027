import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { RESERVE_STEP_BYTES } from './limits.ts';
import { newestMeta } from './page-format.ts';
import type { Operations } from './writer.ts';

/** Its key, its header, and where it is. */
const OPERATION_BYTES = 128;
/** A page that was split is at least a third full. */
const SPLIT = 3;
/** Pages that an operation copies: its leaf, and its share of the branches above it. */
const PAGES_PER_OPERATION = 2;
const ZEROS = Buffer.alloc(RESERVE_STEP_BYTES);

/**
 * Room at the end of the data file for the next transaction, so that no transaction meets a full disk: there LMDB calls
 * a write that was cut short an "Input/output error", and for one that was refused `lmdb` writes its message behind the
 * end of a buffer, which may end the process. A file system that copies on write (Btrfs, ZFS) may be full nevertheless.
 *
 * It only ever appends: of two processes that have the file, neither writes zeros over a page of the other.
 */
export class Reserve {
  readonly #file: FileHandle;
  #fileBytes: number;

  private constructor(file: FileHandle, fileBytes: number) {
    this.#file = file;
    this.#fileBytes = fileBytes;
  }

  /** For a file that LMDB has made. */
  static async open(path: string): Promise<Reserve> {
    const file = await open(path, 'a+');
    return new Reserve(file, (await file.stat()).size);
  }

  /**
   * Makes room for these operations, and then the transaction.
   *
   * @throws with the disk's reason when it takes no more
   */
  async during<T>(operations: Operations, transaction: () => Promise<T>): Promise<T> {
    await this.#ensure(operations);
    try {
      return await transaction();
    } catch (error) {
      const reason = await commitErrorOf(error);
      // What the disk says to another write is the reason that LMDB does not tell.
      if (reason !== error) await this.#grow(RESERVE_STEP_BYTES);
      throw reason;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #ensure(operations: Operations): Promise<void> {
    const { pageBytes, lastPage } = newestMeta((position, length) => this.#read(position, length));
    const usedBytes = (lastPage + 1) * pageBytes;
    const copiedBytes = Math.min(usedBytes, operations.size * PAGES_PER_OPERATION * pageBytes);
    const neededBytes = usedBytes + copiedBytes + SPLIT * bytesOf(operations) + RESERVE_STEP_BYTES;
    if (neededBytes > this.#fileBytes) await this.#grow(neededBytes - this.#fileBytes + RESERVE_STEP_BYTES);
  }

  async #grow(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; ) {
      const { bytesWritten } = await this.#file.write(ZEROS, 0, Math.min(left, ZEROS.length));
      left -= bytesWritten;
    }
    this.#fileBytes = (await this.#file.stat()).size;
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#file.fd, bytes, 0, length, position);
    return bytes;
  }
}

function bytesOf(operations: Operations): number {
  let bytes = operations.size * OPERATION_BYTES;
  for (const value of operations.values()) bytes += value?.length ?? 0;
  return bytes;
}

/** The promise beside LMDB's error has its reason. An error of another kind is returned as it is. */
async function commitErrorOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error && 'commitError' in error)) return error;
  try {
    await error.commitError;
  } catch (reason) {
    return reason;
  }
  return error;
}
