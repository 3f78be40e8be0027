import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../cli/command-error.ts';
import { ensurePythonPackage } from '../cli/venv.ts';

/** The launcher reaches into its internals. */
const VERSION = '1.5.33';
/** Seen from `dist` and from here alike. */
const LAUNCHER = fileURLToPath(new URL('../e2e/ministack-launch.py', import.meta.url));
const START_MS_MAX = 60_000;
const POLL_MS = 100;
/** SIGTERM lets it end its functions; then it is killed. */
const STOP_MS_MAX = 10_000;

/** A third-party AWS on this machine. */
export interface Ministack {
  readonly endpoint: string;
  /** Environment of programs that shall believe that it is AWS. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Its root user: with `AUTH` whatever this user does is allowed, and whatever a function does only by its role. */
const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
const REGION = 'us-east-1';

/** Installs it where it is not, starts it on a free port of the loopback, and waits until it answers. */
export async function startMinistack(): Promise<Ministack> {
  const python = await ensurePythonPackage('ministack', VERSION);
  const port = await freePort();
  // Code and logs of the functions go here, and go away with it.
  const folder = await mkdtemp(join(tmpdir(), 'apus-ministack-'));
  const child = spawn(python, [LAUNCHER], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A group of its own: the functions are processes too.
    detached: true,
    env: {
      ...CREDENTIALS,
      PATH: process.env.PATH,
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      MINISTACK_HOST: '127.0.0.1',
      LOG_LEVEL: process.env.APUS_E2E_LOG_LEVEL ?? 'CRITICAL',
      AUTH: 'true',
      PYTHONDONTWRITEBYTECODE: '1',
    },
  });
  const endpoint = `http://127.0.0.1:${port}`;
  process.once('exit', () => kill(child, 'SIGKILL'));
  await waitUntilUp(endpoint, child);
  const environment = { ...CREDENTIALS, AWS_ENDPOINT_URL: endpoint, AWS_REGION: REGION };
  return {
    endpoint,
    environment,
    stop: async () => {
      await stop(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
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
    if (child.exitCode !== null) throw new CommandError(`MiniStack ended with code ${child.exitCode}.`);
    const isUp = await fetch(`${endpoint}/_ministack/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await sleep(POLL_MS);
  }
  await stop(child);
  throw new CommandError(`MiniStack did not answer within ${START_MS_MAX} ms.`);
}

/** All of its processes end: a function that is left would keep its port, and the machine busy. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  kill(child, 'SIGTERM');
  await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })]);
  kill(child, 'SIGKILL');
  await ended;
}

function kill({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended by itself.
  }
}
