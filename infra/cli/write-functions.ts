import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ENTRIES, type EntryName } from '../lib/entries.ts';
import { PACKED_RE2, re2Text } from '../lib/packed-functions.ts';
import { bundle } from './bundle.ts';

const [, , target = ''] = process.argv;
for (const name of Object.keys(ENTRIES) as EntryName[]) {
  const folder = join(target, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'index.mjs'), (await bundle(name)).code);
}
await writeFile(join(target, PACKED_RE2), re2Text());
