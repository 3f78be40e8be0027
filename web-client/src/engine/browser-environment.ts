import mqtt from 'mqtt';
import type { HostEnvironment } from './host/environment.ts';
import { createSoon, gatherSends } from './wire/gather-sends.ts';

const soon = createSoon();

let originMs = Number.NEGATIVE_INFINITY;

/** `performance.now` stands still while a computer sleeps. The wall clock does not, but may go back. */
function now(): number {
  const elapsedMs = performance.now();
  originMs = Math.max(originMs, Date.now() - elapsedMs);
  return originMs + elapsedMs;
}

/** The environment of a page or a worker for connections. */
export const browserEnvironment: HostEnvironment = {
  mqtt,
  WebSocket,
  openSocket: (url, subprotocols) => gatherSends(new WebSocket(url, [...subprotocols]), soon),
  now,
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
