import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { LONGEST } from './longest-first.ts';

const ROOT = new URL('../../', import.meta.url);

it('the files with which a run begins exist', () => {
  expect(LONGEST.filter((path) => !existsSync(fileURLToPath(new URL(path, ROOT))))).toEqual([]);
});
