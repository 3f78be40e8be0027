import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Built, outcomeOf } from './support/built.ts';

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

test.each([
  ['clients --stack x', '@aws-sdk/client-lambda'],
  ['doctor --region eu-west-1', '@aws-sdk/client-lambda'],
  ['token --secret-id x --sub ada --publish a', '@aws-sdk/client-secrets-manager'],
])('apus %s names the package that is not installed beside it', async (line, name) => {
  const alone = mkdtempSync(join(tmpdir(), 'apus-'));
  onTestFinished(() => rmSync(alone, { recursive: true }));
  for (const part of ['apus.js', 'parts'])
    cpSync(join(apus.directory, part), join(alone, part), { recursive: true });
  const outcome = await outcomeOf(spawn(process.execPath, [join(alone, 'apus.js'), ...line.split(' ')]));
  expect(outcome).toMatchObject({ code: 1, stdout: '' });
  expect(outcome.stderr).toMatch(
    new RegExp(`^apus: .*needs the package ${name}.*npm install -g ${name}.*\n$`),
  );
});
