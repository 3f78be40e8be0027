import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { Recorder } from '@apus/loadtest/measure';

let files = 0;

/** Writes what a worker has counted, when its thread ends: at the end of the test, and at Ctrl+C. */
export function keepLedger(folder: string, recorder: Recorder): void {
  files += 1;
  const path = join(folder, `ledger-${process.pid}-${threadId}-${files}.json`);
  process.once('exit', () => {
    // An engine is also made where no virtual user runs.
    if (recorder.asked === 0) return;
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, JSON.stringify(recorder.ledger()));
  });
}
