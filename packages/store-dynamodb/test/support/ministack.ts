import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const VERSION = '1.5.33';
const CACHE = join(dirname(fileURLToPath(import.meta.url)), '../../../../node_modules/.cache/apus');
const VENV = join(CACHE, `ministack-${VERSION}`);
const START_MS_MAX = 60_000;

const run = promisify(execFile);

export interface Ministack {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Installs it where it is not, starts it on a free port with one of its services, and waits until it answers. */
export async function startMinistack(service: 'dynamodb' | 'sqs' = 'dynamodb'): Promise<Ministack> {
  await install();
  const port = await freePort();
  const child = spawn(join(VENV, 'bin/python'), ['-m', 'ministack'], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      SERVICES: service,
      LOG_LEVEL: 'ERROR',
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  // Whatever ends this process ends the other.
  process.once('exit', () => child.kill('SIGKILL'));
  await waitUntilUp(endpoint, child);
  return { endpoint, stop: () => stop(child) };
}

/** Beside its place first, then renamed: of two test files that install at once one wins, and neither sees a half. */
async function install(): Promise<void> {
  if (existsSync(VENV)) return;
  await mkdir(CACHE, { recursive: true });
  const beside = await mkdtemp(join(CACHE, 'installing-'));
  await run('python3', ['-m', 'venv', beside]);
  await run(join(beside, 'bin/python'), ['-m', 'pip', 'install', '--quiet', `ministack==${VERSION}`]);
  try {
    await rename(beside, VENV);
  } catch (error) {
    await rm(beside, { recursive: true, force: true });
    if (!existsSync(VENV)) throw error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error(`expected a port, got ${address}`);
  return address.port;
}

async function waitUntilUp(endpoint: string, child: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + START_MS_MAX;
  while (Date.now() < deadlineMs) {
    if (child.exitCode !== null) throw new Error(`MiniStack ended with code ${child.exitCode}`);
    const isUp = await fetch(`${endpoint}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(50);
  }
  await stop(child);
  throw new Error(`MiniStack did not answer within ${START_MS_MAX} ms`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}
