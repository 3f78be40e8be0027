import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Broker, createBroker, type Log, type Timer } from '@apus/broker';
import type { Emulator } from '@apus/emulator';
import { ReasonCode } from '@apus/mqtt';
import { createMemoryStores } from '@apus/store-memory';
import { CloseCode } from './close-code.ts';
import { CONNECTION_ID_PREFIX, NodeConnections } from './connections.ts';
import { DoorConnections } from './door-connections.ts';
import { type GatewayDoor, type SharedPorts, startGatewayDoor } from './gateway-door.ts';
import { MQTT_PATH } from './handshake.ts';
import { createHttpHandler } from './http.ts';
import { Links } from './links.ts';
import { listen } from './listen.ts';
import { Listener } from './listener.ts';
import { NodeLog } from './log.ts';
import type { LinkContext } from './node-link.ts';
import { type NodeOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import { Flusher } from './outbox.ts';
import { loadPage } from './page.ts';
import { Sweep } from './sweep.ts';
import { NodeTimers } from './timers.ts';

/** A broker that runs in this process. */
export interface RunningNode {
  /** Where MQTT clients connect, as `ws://127.0.0.1:8083/mqtt`. */
  readonly url: string;
  /** Where the page and `/healthz` are, as `http://127.0.0.1:8083/`. */
  readonly httpUrl: string;
  readonly port: number;
  /** The gateway door, where one was asked for: clients need the Apus transport there. */
  readonly gateway: { readonly url: string; readonly emulator: Emulator } | undefined;
  /** Tells the clients (0x8B), closes their connections and stops listening. A second call waits for the first. */
  stop(): Promise<void>;
}

/** TCP connections that are no WebSockets: the page, health checks, handshakes that are to be refused. */
const HTTP_CONNECTIONS_MAX = 200;

/**
 * Starts a broker with its listener in this process.
 *
 * @throws {StartError} when it cannot listen, or must not with these options.
 * @example
 * const node = await startNode({ port: 0 });
 * const client = await mqtt.connectAsync(node.url);
 * // …
 * await node.stop();
 */
export async function startNode(options: NodeOptions = {}): Promise<RunningNode> {
  const resolved = resolveOptions(options);
  const { clock, limits, host } = resolved;
  const log = new NodeLog(resolved.logLevel, resolved.logSink, clock);
  const links = new Links();
  const { broker, timers, gateway } = await composeBroker(resolved, links, log);
  const server = createHttpServer(resolved);
  const context: LinkContext = {
    broker,
    log,
    scheduler: clock,
    flusher: new Flusher(),
    limits: { ...limits, maximumPacketSize: resolved.broker.limits.maximumPacketSize },
    ended: (link) => links.remove(link),
  };
  const listener = new Listener(server, links, context, {
    limits,
    maximumPacketSize: context.limits.maximumPacketSize,
    allowedOrigins: resolved.allowedOrigins,
    log,
    connectionId: connectionIds(),
  });
  const sweep = new Sweep(links, clock, log, limits.connectTimeoutSeconds);
  const startedAtMs = clock.now();
  let stopped: Promise<void> | undefined;
  server.on(
    'request',
    createHttpHandler(loadPage(), () => ({
      status: stopped === undefined ? 'ok' : 'stopping',
      connections: links.size,
      uptimeSeconds: Math.floor((clock.now() - startedAtMs) / 1000),
    })),
  );
  try {
    await listen(server, host, resolved.port);
  } catch (error) {
    await gateway?.stop();
    throw error;
  }
  // Accepting may fail later, when open files run out: the connections that are there go on.
  server.on('error', (error) => log.error('accept-failed', { error: error.message }));
  sweep.start();

  const stop = async (): Promise<void> => {
    listener.stop();
    await disconnectAll(links, resolved);
    sweep.stop();
    await gateway?.stop();
    timers.stop();
    await closeServer(server);
  };
  const { port } = server.address() as AddressInfo;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: `ws://${authority}${MQTT_PATH}`,
    httpUrl: `http://${authority}/`,
    port,
    gateway: gateway && { url: gateway.url, emulator: gateway.emulator },
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

interface Composition {
  readonly broker: Broker;
  readonly timers: NodeTimers;
  readonly gateway: GatewayDoor | undefined;
}

async function composeBroker(options: ResolvedOptions, links: Links, log: Log): Promise<Composition> {
  const { clock } = options;
  const timers: NodeTimers = new NodeTimers(clock, (timer) => ring(broker, timer, log));
  const ports: SharedPorts = {
    ...createMemoryStores(),
    timers,
    clock,
    log,
    authenticator: options.authenticator,
    authenticationMethods: new Map(options.authenticationMethods.map((method) => [method.name, method])),
    authorizer: options.authorizer,
    randomId: () => randomBytes(12).toString('base64url'),
  };
  const node = new NodeConnections(links, clock);
  const gateway = await startGateway(options, ports, node, log);
  const connections = gateway === undefined ? node : new DoorConnections(node, gateway.connections);
  const broker: Broker = createBroker({ ...ports, connections }, options.broker);
  return { broker, timers, gateway };
}

async function startGateway(
  options: ResolvedOptions,
  ports: SharedPorts,
  node: NodeConnections,
  log: Log,
): Promise<GatewayDoor | undefined> {
  const { host, gatewayPort: port, broker, clock } = options;
  return port === undefined
    ? undefined
    : await startGatewayDoor({ host, port, ports, broker, node, clock, log });
}

async function ring(broker: Broker, timer: Timer, log: Log): Promise<void> {
  try {
    await broker.ring(timer);
  } catch (error) {
    log.error('timer-failed', { kind: timer.kind, clientId: timer.session.clientId, error: String(error) });
  }
}

function createHttpServer({ limits }: ResolvedOptions): Server {
  const timeoutMs = limits.handshakeTimeoutSeconds * 1000;
  const server = createServer({
    maxHeaderSize: limits.handshakeBytesMax,
    headersTimeout: timeoutMs,
    requestTimeout: timeoutMs,
    connectionsCheckingInterval: Math.max(timeoutMs / 4, 100),
    keepAliveTimeout: timeoutMs,
  });
  // Beyond it a connection is dropped unanswered: too many even to be told so.
  server.maxConnections = limits.connectionsMax + HTTP_CONNECTIONS_MAX;
  return server;
}

/** Connection identifiers of one process ascend, and its random beginning keeps two processes apart. */
function connectionIds(): () => string {
  const prefix = `${CONNECTION_ID_PREFIX}${randomBytes(4).toString('hex')}`;
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}

/** DISCONNECT 0x8B where the version has it, close, wait for the clients to go, and cut off those that do not. */
async function disconnectAll(links: Links, { limits, clock }: ResolvedOptions): Promise<void> {
  for (const link of links.all()) {
    if (link.state.phase === 'connected') {
      link.disconnect(ReasonCode.ServerShuttingDown, 'The broker is shutting down');
    } else link.closeWith(CloseCode.GoingAway);
  }
  const cancel = clock.after(limits.shutdownTimeoutSeconds * 1000, () => {
    for (const link of links.all()) link.terminate();
  });
  await links.empty();
  cancel();
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
