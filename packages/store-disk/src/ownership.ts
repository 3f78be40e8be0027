import type { RootDatabase } from 'lmdb';
import { DataDirectoryError, DiskError } from './errors.ts';
import { firstNumberOf, Kind, ownerKey } from './keys.ts';

/**
 * Decides which process owns the data file: the one with the highest number in the file. Taking the next number is a
 * transaction, and every commit is made on condition that the next number has not been taken:
 *
 *     P: claims 5 (there is no 5 yet)          Q: claims 5: taken → refused
 *     P: commits if there is no 6              R: claims 6, and reads the file
 *     P: commits if there is no 6 → no: fails  R: commits if there is no 7
 *
 * All of P's commits come before R's claim, so that R has read them, or are never made. For this, numbers stay in the
 * file, a few bytes for each start: P may wake after any number of others. `DirectoryLock` refuses R while P lives;
 * this is for the moments in which a lock that is a file cannot.
 */
export class Ownership {
  readonly #lmdb: RootDatabase<Buffer, string>;
  readonly #path: string;
  readonly #number: number;

  private constructor(lmdb: RootDatabase<Buffer, string>, path: string, number: number) {
    this.#lmdb = lmdb;
    this.#path = path;
    this.#number = number;
  }

  /**
   * `write` is a part of the same transaction.
   *
   * @throws {DataDirectoryError} when the file is damaged, or another process has claimed it since it was opened here.
   */
  static async claim(
    lmdb: RootDatabase<Buffer, string>,
    path: string,
    write: () => void,
  ): Promise<Ownership> {
    const [last] = lmdb.getKeys({ start: `${Kind.Owner}~`, end: Kind.Owner, reverse: true, limit: 1 });
    const number = 1 + (last === undefined ? 0 : firstNumberOf(last));
    if (last !== undefined && last !== ownerKey(number - 1)) {
      throw new DataDirectoryError(
        `${path} is damaged: the record of its owner cannot be read. Restore it, or move it away.`,
      );
    }
    const isClaimed = await lmdb.ifNoExists(ownerKey(number), () => {
      // The value is not the process id: two containers that share a volume may both be process 1.
      lmdb.put(ownerKey(number), Buffer.from('owner'));
      write();
    });
    if (isClaimed) return new Ownership(lmdb, path, number);
    throw new DataDirectoryError(
      `${path} is being opened by another process. Stop that one, or use another directory.`,
    );
  }

  /**
   * Makes one transaction if the file is still ours: that costs one look at a key that does not exist.
   *
   * @throws {DiskError} when another process has claimed it; nothing was written.
   */
  async commit(write: () => void): Promise<void> {
    if (await this.#lmdb.ifNoExists(ownerKey(this.#number + 1), write)) return;
    throw new DiskError(
      `Another process has taken over ${this.#path}: both were started on one directory. ` +
        'This one acknowledges nothing any more, and has to be stopped.',
    );
  }
}
