import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ProcessUse, processUse } from '../../../loadtest/bench/process-use.ts';
import { freePort } from '../../support/free-port.ts';

/** A process that takes this long to start has failed. */
const START_MS_MAX = 30_000;

/** The command as `npm run build` makes it. */
export interface Command {
  readonly path: string;
  readonly nodeFlags?: readonly string[];
}

export interface Member {
  readonly child: ChildProcess;
  readonly url: string;
}

export interface RunningEngine {
  readonly child: ChildProcess;
  readonly url: string;
  readonly directory: string;
}

/** Kills every started process when this one ends, unless SIGKILL ends it. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Starts `redis-server`, or `APUS_ENGINE`, with a file of its own. */
export async function startEngine(sync = 'everysec'): Promise<RunningEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bench-'));
  const password = randomBytes(12).toString('hex');
  const port = await freePort();
  const child = kept(
    spawn(
      process.env.APUS_ENGINE ?? 'redis-server',
      [
        ...['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password],
        ...['--dir', directory, '--appendonly', 'yes', '--appendfsync', sync, '--save', ''],
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  );
  await said(child, /ready to accept connections/i);
  child.stdout?.resume();
  return { child, url: `redis://:${password}@127.0.0.1:${port}`, directory };
}

/** Starts `apus serve` at a free port. */
export async function startMember(
  { path, nodeFlags = [] }: Command,
  flags: readonly string[],
): Promise<Member> {
  const serve = ['serve', '--port', '0', '--no-gateway', '--log-level', 'error'];
  const child = kept(
    spawn(process.execPath, [...nodeFlags, path, ...serve, ...flags], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  const [, url = ''] = await said(child, /MQTT\s+(\S+)/);
  child.stdout?.resume();
  return { child, url };
}

/** Ends processes that were started here, and waits until they are gone. */
export async function end(all: readonly ChildProcess[], signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  await Promise.all(
    all.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    }),
  );
}

export async function endEngine({ child, directory }: RunningEngine): Promise<void> {
  await end([child]);
  rmSync(directory, { recursive: true, force: true });
}

/** User and system time of processes so far, in seconds. */
export function cpuSecondsOf(all: readonly ChildProcess[]): number {
  return all.reduce((sum, { pid = 0 }) => sum + processUse(pid).cpuSeconds, 0);
}

/** The resources of a process and of all that it has started. */
export function useOfTree(root: number): ProcessUse {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended meanwhile.
    }
  }
  let [cpuSeconds, residentBytes] = [0, 0];
  for (const pid of parents.keys()) {
    let ancestor: number | undefined = pid;
    while (ancestor !== undefined && ancestor !== root) ancestor = parents.get(ancestor);
    if (ancestor === undefined) continue;
    const use = processUse(pid);
    cpuSeconds += use.cpuSeconds;
    residentBytes += use.residentBytes;
  }
  return { cpuSeconds, residentBytes };
}

function kept(child: ChildProcess): ChildProcess {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function said(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  const timer = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  try {
    if (child.stdout === null) throw new Error('the process has no standard output');
    for await (const line of createInterface({ input: child.stdout })) {
      const found = pattern.exec(line);
      if (found !== null) return found;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error(`${child.spawnargs.join(' ')} has not started`);
}
