import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Random } from './clock/random.ts';
import { type Controls, controlsOf, stopGateway } from './controls.ts';
import type { CountersSnapshot } from './counters.ts';
import { createGateway } from './gateway/create-gateway.ts';
import { checkExpression, checkRoutes } from './gateway/route-selection.ts';
import { openWebSocketDoor } from './gateway/web-socket-door.ts';
import { type Credentials, createCredentials, Principals } from './lambda/credentials.ts';
import { type EmulatorLimits, HTTP_CONNECTIONS_MAX } from './limits.ts';
import { ManagementApi } from './management/api.ts';
import { type EmulatorOptions, resolveOptions } from './options.ts';

/** Longer than any caller keeps an idle connection: the caller should close first. */
const KEEP_ALIVE_MS = 120_000;

export interface Emulator extends Controls {
  /** `ws://127.0.0.1:PORT/mqtt`: the path is the stage. */
  readonly url: string;
  /** `http://127.0.0.1:PORT/mqtt`: for `${managementEndpoint}/@connections/${encodeURIComponent(connectionId)}`. */
  readonly managementEndpoint: string;
  readonly region: string;
  /** Credentials of a caller outside Lambda, which never freezes. */
  readonly credentials: Credentials;
  /** Start with the same seed to see the same choices; ids and credentials depend on it only if it was given. */
  readonly seed: number;
  readonly counters: { snapshot(): CountersSnapshot; reset(): void };
  /** Ends every connection without a `$disconnect`, kills every environment, and closes the port. */
  stop(): Promise<void>;
}

/**
 * Starts an API Gateway WebSocket API with its Lambda functions in this process.
 *
 * ```ts
 * const emulator = await startEmulator({
 *   createEnvironment: () => ({
 *     connect: async () => ({ statusCode: 200 }),
 *     default: async (event) => ({ statusCode: 200, body: `You said ${event.body}` }),
 *     disconnect: async () => ({ statusCode: 200 }),
 *   }),
 * });
 * const socket = new WebSocket(emulator.url);
 * ```
 */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const settings = resolveOptions(options);
  checkExpression(settings.routeSelectionExpression);
  checkRoutes(settings.routes);
  const { doorkeeper } = settings;
  const server = createHttpServer(settings.limits);
  if (doorkeeper === undefined) server.maxConnections = settings.limits.connectionsMax + HTTP_CONNECTIONS_MAX;
  const sockets = trackSockets(server);
  server.on('connection', (socket) => doorkeeper?.arrive(socket));
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const host = `${settings.host}:${(server.address() as AddressInfo).port}`;
  const managementEndpoint = `http://${host}/${settings.stage}`;
  const random = new Random(settings.seed, settings.hasSeededIds);
  const principals = new Principals();
  const credentials = createCredentials(random);
  principals.add({ credentials });
  const gateway = createGateway(settings, random, principals, { host, managementEndpoint });
  const management = new ManagementApi(gateway, principals);
  server.on('request', (request, response) => {
    management.handle(request, response).catch(() => response.destroy());
  });
  openWebSocketDoor(gateway, server);
  return {
    url: `ws://${host}/${settings.stage}`,
    managementEndpoint,
    region: settings.region,
    credentials,
    seed: settings.seed,
    counters: gateway.counters,
    ...controlsOf(gateway),
    async stop() {
      if (gateway.stopped) return;
      stopGateway(gateway);
      await closeServer(server, sockets);
    },
  };
}

/** A server whose requests are bounded in time and size. */
function createHttpServer({ requestTimeoutMs: timeoutMs, requestHeaderBytesMax }: EmulatorLimits): Server {
  return createServer({
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.max(timeoutMs / 4, 100),
    maxHeaderSize: requestHeaderBytesMax,
  });
}

/** Node.js itself does not track sockets that it has handed over to WebSocket. */
function trackSockets(server: Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  return sockets;
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}
