import mqtt from 'mqtt';
import type { HostEnvironment } from './host/environment.ts';
import { Host } from './host/host.ts';
import type { Command } from './protocol.ts';

/** What TypeScript's DOM library does not say of a worker's globals. */
interface WorkerGlobals {
  postMessage(message: unknown, transfer: readonly Transferable[]): void;
  onmessage: ((event: MessageEvent<Command>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;

const environment: HostEnvironment = {
  mqtt,
  WebSocket,
  openSocket: (url, subprotocols) => new WebSocket(url, [...subprotocols]),
  now: () => performance.timeOrigin + performance.now(),
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

const host = new Host(environment, (report, moved) => globals.postMessage(report, moved));
globals.onmessage = ({ data }) => host.handle(data);
