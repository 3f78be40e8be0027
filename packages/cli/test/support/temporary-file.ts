import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is removed after the test. @returns its path */
export function temporaryFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A file in a folder of its own, which is removed after the test. @returns its path */
export function temporaryFile(name: string, content: string | Buffer): string {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return path;
}
