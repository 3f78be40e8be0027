import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './broker.ts';

export interface RunningEngine {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts `redis-server`, or `APUS_ENGINE`, with a file of its own. */
export async function startEngine(appendFsync: string): Promise<RunningEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bench-engine-'));
  const port = await freePort();
  const child = spawn(
    process.env.APUS_ENGINE ?? 'redis-server',
    [
      ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
      ...['--appendonly', 'yes', '--appendfsync', appendFsync, '--save', ''],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  await untilReady(child);
  const stop = async (): Promise<void> => {
    child.kill();
    await once(child, 'exit');
    rmSync(directory, { recursive: true });
  };
  return { url: `redis://127.0.0.1:${port}`, pid: child.pid ?? 0, stop };
}

async function untilReady(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error('the engine has no standard output');
  for await (const line of createInterface({ input: child.stdout }))
    if (/ready to accept connections/i.test(line)) {
      child.stdout.resume();
      return;
    }
  throw new Error('the engine has not started');
}
