import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '../../infra/cli/command-error.ts';
import { ensurePythonPackage } from '../../infra/cli/venv.ts';
import { freePort, isFree } from './free-port.ts';

/**
 * A fixed version: the launcher of the end-to-end tests uses its internals, and its differences from AWS are
 * documented.
 */
const VERSION = '1.5.33';
const START_MS_MAX = 60_000;
const POLL_MS = 50;
/** After SIGTERM it ends its functions; then it is killed. */
const STOP_MS_MAX = 10_000;

/** A third-party AWS on this machine. */
export interface Ministack {
  readonly endpoint: string;
  stop(): Promise<void>;
}

export interface MinistackOptions {
  /**
   * The port on loopback.
   * @default any free one
   */
  readonly port?: number;
  /**
   * The arguments with which Python starts it.
   * @default its own way
   */
  readonly launch?: readonly string[];
  /** Environment variables besides its address; of this process it gets only the PATH. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Runs it in a process group of its own, which then outlives Ctrl+C: the caller handles that. */
  readonly hasFunctions?: boolean;
}

/**
 * Installs MiniStack if it is missing, starts it on a free port on loopback, and waits until it answers.
 *
 * @throws {CommandError} that says what is missing, or that it does not answer
 */
export async function startMinistack(options: MinistackOptions = {}): Promise<Ministack> {
  const { launch = ['-m', 'ministack'], environment, hasFunctions = false } = options;
  const python = await ensurePythonPackage('ministack', VERSION);
  if (options.port !== undefined && !(await isFree(options.port)))
    throw new CommandError(`Something else listens at port ${options.port} of this machine.`);
  const port = options.port ?? (await freePort());
  const child = spawn(python, launch, {
    stdio: ['ignore', 'ignore', 'inherit'],
    // A group of its own, which can be ended as a whole.
    detached: hasFunctions,
    env: { PATH: process.env.PATH, GATEWAY_PORT: String(port), BIND_HOST: '127.0.0.1', ...environment },
  });
  const kill = (signal: NodeJS.Signals): void => killAll(child, hasFunctions, signal);
  // The end of this process ends the other.
  process.once('exit', () => kill('SIGKILL'));
  const endpoint = `http://127.0.0.1:${port}`;
  const stop = (): Promise<void> => stopAll(child, kill);
  try {
    await waitUntilUp(endpoint, child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { endpoint, stop };
}

/** Some of its services, in one list with commas: the others do not start. */
export async function startMinistackService(services: string): Promise<Ministack> {
  return await startMinistack({ environment: { SERVICES: services, LOG_LEVEL: 'ERROR' } });
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
  throw new CommandError(`MiniStack did not answer within ${START_MS_MAX} ms.`);
}

/** Ends all of its processes: a remaining function would keep its port, and the machine busy. */
async function stopAll(child: ChildProcess, kill: (signal: NodeJS.Signals) => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  kill('SIGTERM');
  await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })]);
  kill('SIGKILL');
  await ended;
}

function killAll({ pid }: ChildProcess, isGroup: boolean, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(isGroup ? -pid : pid, signal);
  } catch {
    // It has ended by itself.
  }
}
