import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { skipFor } from '../../../../test/support/skips.ts';
import { buildWorker } from '../../command/build-worker.ts';

/** The Worker of most tests. */
const TEST_WORKER: WorkerEntry = {
  file: fileURLToPath(new URL('test-worker.ts', import.meta.url)),
  hub: 'TestHub',
};

/** A Worker's source, and the class of its hub. */
export interface WorkerEntry {
  readonly file: string;
  readonly hub: string;
  /** Modules in the place of others. */
  readonly alias?: Readonly<Record<string, string>>;
}

/** A running `workerd` with the hub of the tests. */
export interface Workerd {
  readonly port: number;
  readonly pid: number;
  /** Where the protocol of Chrome's developer tools is. Undefined: it was not asked for. */
  readonly inspectorPort: number | undefined;
  /** What it has written to its standard error. */
  readonly errors: () => string;
  stop(): Promise<void>;
  /** Ends it at once, as a power cut does. */
  kill(): Promise<void>;
}

/**
 * @param testPort where the process of the tests answers the ports of hubs
 * @param folder for the module and the storage. @default a new one
 * @param entry @default the Worker of most tests
 * @param isInspected it can be asked for the size of its heap
 */
export async function startWorkerd(
  testPort: number,
  folder = newFolder(),
  entry = TEST_WORKER,
  isInspected = false,
): Promise<Workerd> {
  const module = built.get(entry.file) ?? buildOnce(entry);
  built.set(entry.file, module);
  copyFileSync(await module, join(folder, 'worker.js'));
  mkdirSync(join(folder, 'storage'), { recursive: true });
  writeFileSync(join(folder, 'config.capnp'), configOf(join(folder, 'storage'), testPort, entry.hub));
  const inspector = isInspected ? ['--inspector-addr=127.0.0.1:0'] : [];
  const arguments_ = ['serve', '--experimental', '--control-fd=3', ...inspector, 'config.capnp'];
  const child = spawn(binary(), arguments_, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (data) => {
    errors += String(data);
  });
  const { listen: port, inspector: inspectorPort } = await portsOf(child, isInspected, () => errors);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  };
  return {
    ...{ port, inspectorPort, pid: child.pid ?? 0, errors: () => errors },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** A module is the same for all that this process starts. */
const built = new Map<string, Promise<string>>();

async function buildOnce({ file: source, alias }: WorkerEntry): Promise<string> {
  const file = join(newFolder(), 'worker.js');
  await buildWorker(source, file, alias);
  return file;
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'apus-workerd-'));
}

/** Options of `it`: npm brings `workerd` for the usual systems, and not for each. */
export const needsWorkerd = skipFor(!starts() && 'need workerd, which does not start on this system');

function starts(): boolean {
  try {
    return spawnSync(binary(), ['--version']).status === 0;
  } catch {
    return false;
  }
}

function binary(): string {
  const loaded = createRequire(import.meta.url)('workerd') as { default: string };
  return loaded.default;
}

interface Ports {
  readonly listen: number;
  readonly inspector: number | undefined;
}

function portsOf(child: ChildProcess, isInspected: boolean, errors: () => string): Promise<Ports> {
  let [listen, inspector]: (number | undefined)[] = [];
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`workerd has ended with ${code}: ${errors()}`)));
    createInterface(child.stdio[3] as Readable).on('line', (line) => {
      const { event, port } = JSON.parse(line) as { event: string; port?: number };
      if (event === 'listen') listen = port;
      if (event === 'listen-inspector') inspector = port;
      if (listen !== undefined && (inspector !== undefined || !isInspected)) resolve({ listen, inspector });
    });
  });
}

function configOf(storage: string, testPort: number, hub: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "disk", disk = (path = ${JSON.stringify(storage)}, writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"])),
    (name = "test", external = (address = "127.0.0.1:${testPort}", http = ())),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["unsafe_module"],
  durableObjectNamespaces = [(className = "${hub}", uniqueKey = "apus-hub", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "HUB", durableObjectNamespace = "${hub}"), (name = "TEST", service = "test")],
);
`;
}
