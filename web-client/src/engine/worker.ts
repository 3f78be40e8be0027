import { browserEnvironment } from './browser-environment.ts';
import { Host } from './host/host.ts';
import type { Command } from './protocol.ts';

/** What TypeScript's DOM library does not say of a worker's globals. */
interface WorkerGlobals {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  onmessage: ((event: MessageEvent<Command>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;

const host = new Host(browserEnvironment, (report, moved) => globals.postMessage(report, moved));
globals.onmessage = ({ data }) => host.handle(data);
