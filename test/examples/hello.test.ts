import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
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

/** The example in a folder of its own, with the packed client, mqtt.js, and its `ws`. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'apus-hello-'));
  cpSync(join(ROOT, 'examples/hello'), folder, { recursive: true });
  await run('npm', ['pack', '-w', '@apus/client', '--pack-destination', folder], { cwd: ROOT });
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const client = join(folder, 'node_modules/@apus/client');
  mkdirSync(client, { recursive: true });
  await run('tar', ['-xzf', join(folder, tarball), '--strip-components=1', '-C', client]);
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
