import mqtt from 'mqtt';
import type { HostEnvironment } from './host/environment.ts';
import { createSoon, gatherSends } from './wire/gather-sends.ts';

const soon = createSoon();

/** The environment of a page or a worker for connections. */
export const browserEnvironment: HostEnvironment = {
  mqtt,
  WebSocket,
  openSocket: (url, subprotocols) => gatherSends(new WebSocket(url, [...subprotocols]), soon),
  now: () => performance.timeOrigin + performance.now(),
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
