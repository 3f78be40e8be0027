import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const START_MS_MAX = 20_000;
const POLL_MS = 20;
/** Characters of a program's output that the error of a failed start contains. */
const LAST_WORDS_MAX = 2000;

interface Wanted {
  /** Names and paths, in the order in which they are tried. */
  readonly programs: readonly (string | undefined)[];
  /** Arguments with which it prints information about itself, and exits with `status`. */
  readonly args: readonly string[];
  readonly status: number;
  /** The error of CI if there is none. */
  readonly reason: string;
}

/**
 * A third-party program. Undefined if it is not installed: its tests are skipped then (`needs`), because a developer
 * without it can still work on the rest. In CI that fails.
 */
export function programOrSkip({ programs, args, status, reason }: Wanted): string | undefined {
  const found = programs.find((program) => program !== undefined && statusOf(program, args) === status);
  if (found !== undefined) return found;
  if (process.env.CI !== undefined) throw new Error(reason);
  return undefined;
}

/** By program and arguments. Each test of a cluster asks, and each question is a process. */
const statuses = new Map<string, number | null | undefined>();

function statusOf(program: string, args: readonly string[]): number | null | undefined {
  const command = [program, ...args].join(' ');
  if (!statuses.has(command)) statuses.set(command, askedStatus(program, args));
  return statuses.get(command);
}

function askedStatus(program: string, args: readonly string[]): number | null | undefined {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return 0;
  } catch (error) {
    return (error as { readonly status?: number | null }).status;
  }
}

/**
 * Starts a program that listens on a port on loopback, and returns when it does.
 * @throws with its last output if it does not
 */
export async function launch(program: string, args: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let lastWords = '';
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-LAST_WORDS_MAX);
    });
  }
  const deadlineMs = Date.now() + START_MS_MAX;
  while (!(await isListening(port))) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    if (hasEnded || Date.now() > deadlineMs) {
      await end(child, 'SIGKILL');
      throw new Error(`${program} does not start: ${lastWords}`);
    }
    await sleep(POLL_MS);
  }
  return child;
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

/** Ends a program with a signal, and returns when it has ended. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}
