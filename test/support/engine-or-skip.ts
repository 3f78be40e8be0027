import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { end, launch, programOrSkip } from './program.ts';

/** The program of an engine: Valkey, or Redis. Debian names it after either project. */
export function engineOrSkip(): string | undefined {
  return programOrSkip({
    programs: [process.env.APUS_ENGINE, 'valkey-server', 'redis-server'],
    args: ['--version'],
    status: 0,
    reason: 'needs Valkey or Redis: install valkey-server, or name the program in APUS_ENGINE',
  });
}

export interface TestEngine {
  /** The URL with its password. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends the engine with a signal. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts the engine again with the same data. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Writes each command to its file before it answers. */
const KEEPS_ALL = ['--appendonly', 'yes', '--appendfsync', 'always'];

/**
 * A separate engine on loopback, with a password.
 * @param program of `engineOrSkip`; the tests are skipped where it is undefined
 * @param keeps what it writes to its file
 * @default everything
 */
export async function startEngine(
  program: string | undefined,
  keeps: readonly string[] = KEEPS_ALL,
): Promise<TestEngine> {
  if (program === undefined) throw new Error('a cluster needs an engine');
  const directory = mkdtempSync(join(tmpdir(), 'apus-engine-'));
  const port = await freePort();
  const password = randomBytes(18).toString('hex');
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--requirepass', password, '--dir', directory];
  args.push(...keeps, '--save', '', '--loglevel', 'warning');
  let child = await launch(program, args, port);
  const kill = (signal: NodeJS.Signals) => end(child, signal);
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async start() {
      child = await launch(program, args, port);
    },
    async stop() {
      await kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
