import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import type { Door } from '../../src/engine/types.ts';
import { type SnippetConnection, snippetFor } from '../../src/features/start/snippets.ts';
import { startBroker, urlOf } from '../support/engine.ts';

const NODE_MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** Runs a program as its reader would, but for `@apus/client`, which is taken from its sources. */
async function run(code: string): Promise<string> {
  const directory = await mkdtemp(join(NODE_MODULES, '.apus-test-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const [source, outfile] = [join(directory, 'copied.mjs'), join(directory, 'bundle.mjs')];
  await writeFile(source, code);
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    external: ['mqtt', 'ws'],
  });
  const child = spawn(process.execPath, [outfile], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  return await new Promise((resolve) =>
    child.stdout.once('data', (data: Buffer) => resolve(String(data).trim())),
  );
}

/** A connection that asks for no user. */
const of = (url: string): SnippetConnection => ({ url, username: '', needsPassword: false });

test.each<Door>(['node', 'gateway'])('the lines for the %s door receive what they publish', async (door) => {
  const node = await startBroker();
  expect(await run(snippetFor('javascript', door, of(urlOf(node, door))).code)).toBe('hello/world Hello');
});

test('the command line names the host, the port and the path', () => {
  const { code } = snippetFor('shell', 'node', of('wss://broker.example/a/mqtt'));
  expect(code).toContain('mqtt sub -l wss -h broker.example -p 443 --path /a/mqtt');
});

test('the user stands in the lines by name, and words in the place of the password', () => {
  const connection = { url: 'wss://broker.example/mqtt', username: "d'Arc", needsPassword: true };
  expect(snippetFor('javascript', 'node', connection).code).toContain(
    "mqtt.connect('wss://broker.example/mqtt', { username: 'd\\'Arc', password: 'YOUR-PASSWORD' });",
  );
  expect(snippetFor('javascript', 'gateway', { ...connection, needsPassword: false }).code).toContain(
    "connect(mqtt, 'wss://broker.example/mqtt', { username: 'd\\'Arc' });",
  );
  expect(snippetFor('shell', 'node', connection).code).toContain(
    "--path /mqtt -u 'd'\\''Arc' -P 'YOUR-PASSWORD' -t",
  );
});
