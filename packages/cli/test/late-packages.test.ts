import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Built } from './support/built.ts';

const apus = new Built();

/** `import … from "x"` and `import "x"`, minified: at the beginning of a file, or after another statement. */
const STATIC_IMPORT = /(?:^|[;\n}])(?:import|export)(?:[^;("'`]*?from)?"([^"]+)"/g;

function importedBy(path: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(path)) return packages;
  seen.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(STATIC_IMPORT)) {
    if (!name.startsWith('.')) packages.add(name);
    else for (const each of importedBy(join(path, '..', name), seen)) packages.add(each);
  }
  return packages;
}

test('the command loads no package at its start: packages that some commands need are loaded by them', () => {
  const packages = [...importedBy(join(apus.directory, 'apus.js'))];
  expect(packages).toContain('node:path');
  expect(packages).not.toContain('node:cluster');
  const builtin = (name: string) => name.startsWith('node:') || builtinModules.includes(name);
  expect(packages.filter((name) => !builtin(name))).toEqual([]);
});
