import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/**
 * Asked to end, `workerd` waits for its clients to go. After this time it is killed, which loses nothing that it has
 * acknowledged (`kill.test.ts`).
 */
const DRAIN_MS_MAX = 500;

/** A running `workerd`. */
export interface RunningWorkerd {
  readonly port: number;
  /** Resolves when it has ended by itself, with what it has written to its standard error. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/**
 * Starts Cloudflare's runtime, and resolves when it listens.
 *
 * @param folder with `config.capnp`
 * @param environment variables that the configuration names
 * @param log called with each line of its standard error
 */
export async function runWorkerd(
  folder: string,
  environment: Readonly<Record<string, string>>,
  log: (line: string) => void,
): Promise<RunningWorkerd> {
  const child = spawn(binary(), ['serve', '--experimental', '--control-fd=3', 'config.capnp'], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
    // Ctrl+C in a terminal reaches the whole group: `stop` ends it.
    detached: true,
  });
  let last = '';
  createInterface(child.stderr as Readable).on('line', (line) => {
    last = line;
    log(line);
  });
  const ended = new Promise<string>((resolve) => child.once('exit', () => resolve(last)));
  const port = await portOf(child, ended);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
    const timer = setTimeout(kill, DRAIN_MS_MAX);
    await ended;
    clearTimeout(timer);
    process.off('exit', kill);
  };
  return { port, ended, stop };
}

/** @throws where npm has brought none for this system */
function binary(): string {
  const loaded = createRequire(import.meta.url)('workerd') as { default: string };
  return loaded.default;
}

function portOf(child: ChildProcess, ended: Promise<string>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    void ended.then((last) => reject(new Error(`workerd has ended: ${last}`)));
    createInterface(child.stdio[3] as Readable).on('line', (line) => {
      const { event, port } = JSON.parse(line) as { event: string; port?: number };
      if (event === 'listen' && port !== undefined) resolve(port);
    });
  });
}
