import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Connection } from './connection.ts';
import { closeConnection, cutConnection } from './connection-life.ts';
import type { CountersSnapshot } from './counters.ts';
import { createGateway } from './create-gateway.ts';
import { type Credentials, createCredentials, Principals } from './credentials.ts';
import { ManagementApi } from './management-api.ts';
import { type EmulatorOptions, resolveOptions } from './options.ts';
import { Random } from './random.ts';
import { checkExpression } from './route-selection.ts';
import { type Sqs, sqsOf } from './sqs/create-sqs.ts';
import { openWebSocketDoor } from './web-socket-door.ts';

/** Longer than any caller keeps an idle connection: who closes first should be the caller. */
const KEEP_ALIVE_MS = 120_000;

export interface Emulator {
  /** `ws://127.0.0.1:PORT/mqtt`: the path is the stage. */
  readonly url: string;
  /** `http://127.0.0.1:PORT/mqtt`: for `${managementEndpoint}/@connections/${encodeURIComponent(connectionId)}`. */
  readonly managementEndpoint: string;
  readonly region: string;
  /** Credentials of a caller outside Lambda, which never freezes. */
  readonly credentials: Credentials;
  /** Start with it again to see the same choices. */
  readonly seed: number;
  /** The queues; none of them was there before unless the option `queues` names it. */
  readonly sqs: Sqs;
  readonly counters: { snapshot(): CountersSnapshot; reset(): void };
  /** Ids of the connections that are open. */
  connectionIds(): readonly string[];
  /** Closes a connection from the gateway's side, for instance with 1012 as at a restart. False if it is not there. */
  closeConnection(connectionId: string, code: number, reason?: string): boolean;
  /** Breaks a TCP connection; the gateway notices at once (1006). False if it is not there. */
  cutConnection(connectionId: string): boolean;
  /**
   * Loses a client without the gateway's notice: posts succeed until the buffer is full, and nothing ends before the
   * idle timeout. The client sees a broken connection, or, unless it notices, nothing at all, as when a cable is
   * pulled. False if it is not there.
   */
  loseConnection(connectionId: string, clientNotices?: boolean): boolean;
  /** Kills an execution environment: its invocation ends at the timeout. False if it is not there. */
  killEnvironment(environmentId: string): boolean;
  /** The next invocations start cold. */
  retireIdleEnvironments(): void;
  /**
   * Resolves when no handshake, message, call or `$disconnect` is under way, delayed ones included. What is still on
   * its way from a client is not seen.
   */
  quiet(): Promise<void>;
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
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  const sockets = trackSockets(server);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  const host = `${settings.host}:${(server.address() as AddressInfo).port}`;
  const managementEndpoint = `http://${host}/${settings.stage}`;
  const random = new Random(settings.seed);
  const principals = new Principals();
  const credentials = createCredentials(random);
  principals.add({ credentials });
  const gateway = createGateway(settings, random, principals, { host, managementEndpoint });
  const management = new ManagementApi(gateway, principals);
  server.on('request', (request, response) => {
    management.handle(request, response).catch(() => response.destroy());
  });
  openWebSocketDoor(gateway, server);
  const withConnection = (id: string, act: (connection: Connection) => void): boolean => {
    const connection = gateway.connections.get(id);
    if (connection?.state !== 'open') return false;
    act(connection);
    return true;
  };
  return {
    url: `ws://${host}/${settings.stage}`,
    managementEndpoint,
    region: settings.region,
    credentials,
    seed: settings.seed,
    sqs: sqsOf(gateway.sqs),
    counters: gateway.counters,
    connectionIds: () => [...gateway.connections.values()].filter((c) => c.state === 'open').map((c) => c.id),
    closeConnection: (id, code, reason = '') =>
      withConnection(id, (c) => closeConnection(gateway, c, code, reason)),
    cutConnection: (id) => withConnection(id, cutConnection),
    loseConnection: (id, clientNotices = true) => withConnection(id, (c) => c.lose(clientNotices)),
    killEnvironment: (id) => gateway.functions.some((lambda) => lambda.kill(id)),
    retireIdleEnvironments() {
      for (const lambda of gateway.functions) lambda.retireIdle();
    },
    quiet: () => gateway.activity.quiet(),
    async stop() {
      if (gateway.stopped) return;
      gateway.stopped = true;
      for (const connection of gateway.connections.values()) connection.cancelTimers();
      gateway.sqs.stop();
      for (const lambda of gateway.functions) lambda.stop();
      await closeServer(server, sockets);
    },
  };
}

/** Node.js itself forgets the sockets that it handed over to WebSocket. */
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
