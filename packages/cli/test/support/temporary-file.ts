import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A file in a folder of its own, which is removed after the test. @returns its path */
export function temporaryFile(name: string, content: string | Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}
