import { browserEnvironment } from './browser-environment.ts';
import { Host } from './host/host.ts';
import { KeptDatabase } from './kept-database.ts';
import type { Command } from './protocol.ts';

/** Globals of a worker that TypeScript's DOM library does not declare. */
interface WorkerGlobals {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  onmessage: ((event: MessageEvent<Command>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;

const environment = { ...browserEnvironment, kept: new KeptDatabase() };
const host = new Host(environment, (report, moved) => globals.postMessage(report, moved));
globals.onmessage = ({ data }) => host.handle(data);
