import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of this test alone, gone when it ends. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = mkdtempSync(join(parent, 'apus-disk-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const MEMORY = '/dev/shm';

/** In memory, where the system has such a folder: for tests that wait for thousands of syncs. */
export function directoryInMemory(): string {
  return temporaryDirectory(existsSync(MEMORY) ? MEMORY : undefined);
}
