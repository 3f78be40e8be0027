import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseUsers } from '@apus/identity';
import { expect, onTestFinished, test } from 'vitest';
import { LIMIT_FLAGS } from '../src/commands/limit-flags.ts';
import { QUOTA_FLAGS } from '../src/commands/quota-flags.ts';
import { outcomeOf } from './support/built.ts';
import { doorsForTest } from './support/doors.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const OPERATE = readFileSync(join(ROOT, 'docs/operate.md'), 'utf8');

/** The first block of code in this language. */
function block(page: string, language: string): string {
  const [, code] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(page) ?? [];
  if (code === undefined) throw new Error(`the page has no block of ${language}`);
  return code;
}

test('the example works when pasted into a file', async () => {
  const node = await doorsForTest();
  // A folder below node_modules, where mqtt.js is found as in a project that has installed it.
  const directory = mkdtempSync(join(ROOT, 'node_modules', '.apus-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const code = block(README, 'js');
  expect(code).toContain('ws://127.0.0.1:8083/mqtt');
  const file = join(directory, 'example.mjs');
  writeFileSync(file, code.replace('ws://127.0.0.1:8083/mqtt', node.url));
  const outcome = await outcomeOf(spawn('node', [file]));
  expect(outcome).toEqual({ code: 0, stdout: 'hello/world Hello, Apus\n', stderr: '' });
});

test('the table of limits has every limit with its default', () => {
  const rows = [...OPERATE.matchAll(/^\| `--([\w-]+)` \| ([\w,-]+) \|/gm)].map(([, name, preset]) => [
    name,
    preset,
  ]);
  const limits = Object.entries(LIMIT_FLAGS).map(([name, flag]) => [
    name,
    flag.default?.toLocaleString('en'),
  ]);
  expect(rows).toEqual(limits);
});

test('the table of quotas has every quota with its defaults', () => {
  const rows = [...OPERATE.matchAll(/^\| `([a-z-]+-max)` \| ([\d,]+) \| ([\d,]*) \| ([\d,]*) \|/gm)].flatMap(
    ([, name, ...presets]) =>
      ['identity', 'tenant', 'broker'].flatMap((scope, index) =>
        presets[index] === '' ? [] : [[`${scope}-${name}`, presets[index]]],
      ),
  );
  const quotas = Object.entries(QUOTA_FLAGS).map(([name, flag]) => [
    name,
    flag.default?.toLocaleString('en'),
  ]);
  expect(rows.sort()).toEqual(quotas.sort());
});

test('the users file is valid', () => {
  expect([...parseUsers(block(OPERATE, 'json'), 'operate.md').keys()]).toEqual(['ada']);
});
