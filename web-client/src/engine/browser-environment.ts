import mqtt from 'mqtt';
import type { HostEnvironment } from './host/environment.ts';
import { createSoon, gatherSends } from './wire/gather-sends.ts';

const soon = createSoon();

/** What a page or a worker gives to those who connect. */
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
