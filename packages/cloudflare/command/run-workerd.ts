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
  readonly pid: number;
  /** Where the protocol of Chrome's developer tools is. Undefined: it was not asked for. */
  readonly inspectorPort: number | undefined;
  /** Resolves when it has ended by itself, with what it has written to its standard error. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
  /** Ends it at once, as a power cut does. */
  kill(): Promise<void>;
}

/**
 * Starts Cloudflare's runtime, and resolves when it listens.
 *
 * @param folder with `config.capnp`
 * @param environment variables that the configuration names
 * @param log called with each line of its standard error
 * @param isInspected it can be asked for the size of its heap
 */
export async function runWorkerd(
  folder: string,
  environment: Readonly<Record<string, string>>,
  log: (line: string) => void,
  isInspected = false,
): Promise<RunningWorkerd> {
  const inspector = isInspected ? ['--inspector-addr=127.0.0.1:0'] : [];
  const args = ['serve', '--experimental', '--control-fd=3', ...inspector, 'config.capnp'];
  const child = spawn(workerdBinary(), args, {
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
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  void ended.then(() => process.off('exit', end));
  const { listen: port, inspector: inspectorPort } = await portsOf(child, isInspected, ended);
  const stop = async () => {
    child.kill('SIGTERM');
    const timer = setTimeout(end, DRAIN_MS_MAX);
    await ended;
    clearTimeout(timer);
  };
  const kill = async () => {
    end();
    await ended;
  };
  return { ...{ port, inspectorPort, pid: child.pid ?? 0 }, ended, stop, kill };
}

/** @throws where npm has brought none for this system */
export function workerdBinary(): string {
  const loaded = createRequire(import.meta.url)('workerd') as { default: string };
  return loaded.default;
}

interface Ports {
  readonly listen: number;
  readonly inspector: number | undefined;
}

function portsOf(child: ChildProcess, isInspected: boolean, ended: Promise<string>): Promise<Ports> {
  let [listen, inspector]: (number | undefined)[] = [];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    void ended.then((last) => reject(new Error(`workerd has ended: ${last}`)));
    createInterface(child.stdio[3] as Readable).on('line', (line) => {
      const { event, port } = JSON.parse(line) as { event: string; port?: number };
      if (event === 'listen') listen = port;
      if (event === 'listen-inspector') inspector = port;
      if (listen !== undefined && (inspector !== undefined || !isInspected)) resolve({ listen, inspector });
    });
  });
}
