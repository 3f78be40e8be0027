import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type RunningDoors, startDoors } from '@apus/cli';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
let node: RunningDoors;

/** The example in a folder of its own, with the files of the client's package, mqtt.js, and its `ws`. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apus-hello-'));
  cpSync(join(ROOT, 'examples/hello'), folder, { recursive: true });
  const { stdout } = await run('npm', ['pack', '-w', '@apus/client', '--dry-run', '--json'], { cwd: ROOT });
  const [{ files }] = JSON.parse(stdout);
  for (const { path } of files)
    cpSync(join(ROOT, 'packages/client', path), join(folder, 'node_modules/@apus/client', path));
  for (const name of ['mqtt', 'ws'])
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  node = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent' });
});

afterAll(async () => {
  await node?.stop();
  rmSync(folder, { recursive: true });
});

const hello = async (...args: string[]) =>
  await run(process.execPath, ['hello.mjs', ...args], { cwd: folder });

test('the first example says hello through the gateway door, with the packed client', async () => {
  const { stdout } = await hello(node.gateway?.url ?? '');
  expect(stdout).toBe('hello/world: Hello, Apus\n');
});

test('the first example says why it cannot connect, and ends with 1', async () => {
  await expect(hello('ws://127.0.0.1:1/mqtt')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('ws://127.0.0.1:1/mqtt: '),
  });
});
