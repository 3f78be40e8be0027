import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { skipFor } from '../../../../test/support/skips.ts';
import { buildWorker } from '../../command/build-worker.ts';
import { COMPATIBILITY_DATE } from '../../command/local-files.ts';
import { type RunningWorkerd, runWorkerd, workerdBinary } from '../../command/run-workerd.ts';

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
export interface Workerd extends RunningWorkerd {
  /** What it has written to its standard error. */
  readonly errors: () => string;
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
  let errors = '';
  const note = (line: string) => {
    errors += `${line}\n`;
  };
  return { ...(await runWorkerd(folder, {}, note, isInspected)), errors: () => errors };
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
    return spawnSync(workerdBinary(), ['--version']).status === 0;
  } catch {
    return false;
  }
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
  compatibilityDate = "${COMPATIBILITY_DATE}",
  compatibilityFlags = ["unsafe_module"],
  durableObjectNamespaces = [(className = "${hub}", uniqueKey = "apus-hub", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
  bindings = [(name = "HUB", durableObjectNamespace = "${hub}"), (name = "TEST", service = "test")],
);
`;
}
