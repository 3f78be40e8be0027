import mqtt from 'mqtt';
import type { HostEnvironment } from './host/environment.ts';

/** What a page or a worker gives to those who connect. */
export const browserEnvironment: HostEnvironment = {
  mqtt,
  WebSocket,
  openSocket: (url, subprotocols) => new WebSocket(url, [...subprotocols]),
  now: () => performance.timeOrigin + performance.now(),
  later: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
