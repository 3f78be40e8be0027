import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { Recorder } from '@apus/loadtest/measure';

/** A file of this name in the folder of ledgers asks every worker to end with its counts so far. */
export const STOP_FILE = 'stop';

/** How often a worker looks for it. */
const LOOK_MS = 200;

let files = 0;

/**
 * The ledger of one worker. Artillery tells its workers nothing before it ends them at Ctrl+C, so the reader of the
 * ledgers requests them with a file first.
 */
export class LedgerFile {
  readonly #folder: string;
  readonly #path: string;
  readonly #recorder: Recorder;
  #timer: NodeJS.Timeout | undefined;

  constructor(folder: string, recorder: Recorder) {
    files += 1;
    this.#folder = folder;
    this.#path = join(folder, `ledger-${process.pid}-${threadId}-${files}.json`);
    this.#recorder = recorder;
  }

  /** Writes the counts so far; readers never see an incomplete file. */
  write(): void {
    mkdirSync(this.#folder, { recursive: true });
    const unfinished = `${this.#path}.part`;
    writeFileSync(unfinished, JSON.stringify(this.#recorder.ledger()));
    renameSync(unfinished, this.#path);
  }

  whenAskedToStop(stop: () => void): void {
    this.#timer ??= setInterval(() => {
      if (!existsSync(join(this.#folder, STOP_FILE))) return;
      this.close();
      stop();
    }, LOOK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
