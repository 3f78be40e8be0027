import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkerTexts } from '../src/worker/configuration.ts';
import { buildWorker } from './build-worker.ts';
import { COMPATIBILITY_DATE, ENTRY } from './local-files.ts';
import { type RunningWorkerd, runWorkerd } from './run-workerd.ts';

export interface LocalOptions {
  /** For the module, its configuration and the records of the hubs. */
  readonly folder: string;
  /** Of 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly texts: WorkerTexts;
  /** The folder of the page. Undefined: there is none. */
  readonly page?: string | undefined;
  readonly log: (line: string) => void;
}

/** Builds the Worker, and runs it in `workerd` on this machine. */
export async function startLocal(options: LocalOptions): Promise<RunningWorkerd> {
  const { folder, texts, log } = options;
  mkdirSync(join(folder, 'storage'), { recursive: true });
  await buildWorker(ENTRY, join(folder, 'worker.js'));
  writeFileSync(join(folder, 'config.capnp'), configOf(options));
  return await runWorkerd(folder, texts as Readonly<Record<string, string>>, log);
}

function configOf({ port, texts: given, page }: LocalOptions): string {
  const texts = Object.keys(given).map((name) => `(name = "${name}", fromEnvironment = "${name}")`);
  const bindings = ['(name = "HUB", durableObjectNamespace = "Hub")', ...texts];
  if (page !== undefined) bindings.push('(name = "ASSETS", service = "page")');
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "storage", disk = (path = "storage", writable = true)),
    (name = "internet", network = (allow = ["public", "private", "local"], tlsOptions = (trustBrowserCas = true))),
${page === undefined ? '' : `    (name = "page", disk = (path = ${JSON.stringify(page)})),\n`}  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "${COMPATIBILITY_DATE}",
  durableObjectNamespaces = [(className = "Hub", uniqueKey = "apus-hub", enableSql = true)],
  durableObjectStorage = (localDisk = "storage"),
  bindings = [
    ${bindings.join(',\n    ')},
  ],
);
`;
}
