import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { it } from 'vitest';
import { freePort } from './free-port.ts';

/** Debian names it after either project. */
const PROGRAMS = [process.env.APUS_ENGINE, 'valkey-server', 'redis-server'];
const START_MS_MAX = 20_000;
const POLL_MS = 20;

/**
 * The program of an engine: Valkey, or Redis. Undefined where there is none: then a skipped test says so, because a
 * developer without it can still work on the rest. In CI that fails.
 */
export function engineOrSkip(): string | undefined {
  const program = PROGRAMS.find((path) => path !== undefined && isThere(path));
  if (program !== undefined) return program;
  const reason = 'needs Valkey or Redis: install valkey-server, or name the program in APUS_ENGINE';
  if (process.env.CI !== undefined) throw new Error(reason);
  it.skip(reason, () => {});
  return undefined;
}

function isThere(path: string): boolean {
  try {
    execFileSync(path, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface TestEngine {
  /** With its password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it with a signal. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again over the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** An engine of its own on loopback, with a password, which writes each command to its file before it answers. */
export async function startEngine(program: string): Promise<TestEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-engine-'));
  const port = await freePort();
  const password = randomBytes(18).toString('hex');
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password, '--dir', directory];
  args.push('--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--loglevel', 'warning');
  const launch = async (): Promise<ChildProcess> => {
    const started = spawn(program, args, { stdio: 'ignore' });
    const deadlineMs = Date.now() + START_MS_MAX;
    while (!(await isListening(port))) {
      if (started.exitCode !== null || Date.now() > deadlineMs) throw new Error('the engine does not start');
      await sleep(POLL_MS);
    }
    return started;
  };
  let child = await launch();
  const kill = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async start() {
      child = await launch();
    },
    async stop() {
      await kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
