import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The source of the Worker. */
export const ENTRY = fileURLToPath(new URL('../src/worker/entry.ts', import.meta.url));

/** The web client, where the command `apus` has been built. */
export const PAGE = fileURLToPath(new URL('../../cli/dist/page', import.meta.url));

/** Of the runtime that the tests run in. */
export const COMPATIBILITY_DATE = '2026-11-01';

/** For secrets, and for records of clients: no other user of this machine reads it. */
export function privateFolder(path: string): string {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
}

/** A secret that stays in the folder. */
export function madeOnce(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}
