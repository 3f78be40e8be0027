import { createServer, type Server } from 'node:http';
import type { NodeLimits } from './limits.ts';

/** TCP connections that are no WebSockets: the page, health checks, handshakes to be refused. */
export const HTTP_CONNECTIONS_MAX = 200;

/** A server whose handshakes are limited in time and size. `Places` limits their number. */
export function createHttpServer(limits: NodeLimits): Server {
  const timeoutMs = limits.handshakeTimeoutSeconds * 1000;
  return createServer({
    maxHeaderSize: limits.handshakeBytesMax,
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.max(timeoutMs / 4, 100),
    keepAliveTimeout: timeoutMs,
  });
}

/** Stops listening, and closes open connections. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
