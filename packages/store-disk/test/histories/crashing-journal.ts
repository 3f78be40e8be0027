import type { Journal, Kind, Operations } from '@apus/store-disk';

interface Commit {
  readonly operations: Operations;
  readonly answer: () => void;
}

/** A disk whose commits come one after another, each when the test says so. A crash loses those that have not come. */
export class CrashingJournal implements Journal {
  readonly #disk: Map<string, Uint8Array>;
  #commits: Commit[] = [];

  constructor(disk: ReadonlyMap<string, Uint8Array> = new Map()) {
    this.#disk = new Map(disk);
  }

  get isBusy(): boolean {
    return this.#commits.length > 0;
  }

  commit(operations: Operations): Promise<void> {
    return new Promise((resolve) => {
      this.#commits.push({ operations: new Map(operations), answer: resolve });
    });
  }

  /** The oldest commit is on the disk. Returns what answers the process. */
  write(): () => void {
    const commit = this.#commits.shift();
    if (commit === undefined) throw new Error('nothing is to be written');
    for (const [key, value] of commit.operations) {
      if (value === undefined) this.#disk.delete(key);
      else this.#disk.set(key, Uint8Array.from(value));
    }
    return commit.answer;
  }

  /** The process is dead: a journal for the next one, over the same disk. */
  next(): CrashingJournal {
    this.#commits = [];
    return new CrashingJournal(this.#disk);
  }

  *scan(kind: Kind, from: string = kind): Generator<readonly [key: string, value: Buffer]> {
    const keys = [...this.#disk.keys()].filter((key) => key.startsWith(kind) && key >= from).sort();
    for (const key of keys) {
      const value = this.#disk.get(key);
      if (value !== undefined) yield [key, Buffer.from(value)];
    }
  }

  damage(where: string, error: unknown): Error {
    return new Error(`${where} cannot be read`, { cause: error });
  }
}
