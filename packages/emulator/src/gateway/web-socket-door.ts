import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws';
import { gatewayId } from '../ids.ts';
import { type Admission, type Arrival, admit } from './connect-route.ts';
import type { Connection } from './connection.ts';
import { closeConnection, cutConnection, endConnection, startLife } from './connection-life.ts';
import { errorFrame } from './error-frame.ts';
import { FrameMeter } from './frame-meter.ts';
import type { Gateway } from './gateway.ts';
import { receiveMessage } from './message-route.ts';
import { hasValidHead } from './request-head.ts';
import { UnfinishedMessages } from './unfinished-messages.ts';

/** How long a client may take to answer a close frame before the TCP connection is cut. Real time, as the network is. */
const CLOSE_TIMEOUT_MS = 2_000;

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  414: 'URI Too Long',
  429: 'Too Many Requests',
  502: 'Internal server error',
  503: 'Service Unavailable',
  504: 'Endpoint request timed out',
};

interface Admitted {
  readonly connection: Connection;
  readonly subprotocol: string | undefined;
}

/** The WebSocket side of the API: handshakes, and the events of `ws` for open connections. */
export function openWebSocketDoor(gateway: Gateway, server: Server): void {
  const { limits } = gateway.settings;
  const admitted = new WeakMap<IncomingMessage, Admitted>();
  // `closeTimeout` is in ws 8.18 and not yet in its types.
  const options: ServerOptions & { closeTimeout: number } = {
    noServer: true,
    // One message of each connection in a turn of the event loop: otherwise all messages of a client that sends many at
    // once would begin before another client's first. Its bytes wait in its socket meanwhile.
    allowSynchronousEvents: false,
    closeTimeout: CLOSE_TIMEOUT_MS,
    maxFragments: limits.fragmentsPerMessageMax,
    maxPayload: limits.messageBytesMax,
    perMessageDeflate: false,
    handleProtocols: (_offered, request) => admitted.get(request)?.subprotocol ?? false,
    verifyClient: (info: { req: IncomingMessage }, answer: Answer) => {
      letIn(gateway, info.req, admitted, answer).catch((error: unknown) => {
        answer(false, 500);
        throw error;
      });
    },
  };
  const door = new WebSocketServer(options);
  const unfinished = new UnfinishedMessages<Connection>(limits.unfinishedBytesMax, (connection) => {
    gateway.counters.event('unfinishedBytesMax');
    closeConnection(
      gateway,
      connection,
      1008,
      'Messages of all clients that are not whole take too much memory',
    );
  });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    door.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = admitted.get(request)?.connection;
      if (connection !== undefined) open(gateway, unfinished, connection, webSocket, socket);
    });
  });
}

type Answer = (letIn: boolean, status?: number, body?: string, headers?: Record<string, string>) => void;

async function letIn(
  gateway: Gateway,
  request: IncomingMessage,
  admitted: WeakMap<IncomingMessage, Admitted>,
  answer: Answer,
): Promise<void> {
  const end = gateway.activity.begin();
  const admission: Admission = hasValidHead(request)
    ? await admit(gateway, request, arrivals(gateway, request))
    : { accepted: false, status: 400 };
  end();
  if (!admission.accepted) {
    gateway.counters.connectionRefused();
    const message = admission.reason ?? REFUSALS[admission.status] ?? 'Internal server error';
    const body = errorFrame(message, admission.connectionId ?? '', gatewayId(gateway.random));
    answer(false, admission.status, body, { 'Content-Type': 'application/json' });
    return;
  }
  admitted.set(request, admission);
  answer(true);
  // The client did not wait for `$connect`: for the function it was connected, so it is told of the end.
  if (admission.connection.state === 'connecting') endConnection(gateway, admission.connection, 1006, '');
}

/** Undefined: the places have no doorkeeper. */
function arrivals(
  { settings: { doorkeeper }, connections }: Gateway,
  { socket }: IncomingMessage,
): ((source: string) => Arrival) | undefined {
  if (doorkeeper === undefined) return undefined;
  return (source) => ({
    isEager: doorkeeper.isEager(source),
    takePlace: (connectionId) => doorkeeper.take(connectionId, socket, source, connections.size),
  });
}

function open(
  gateway: Gateway,
  unfinished: UnfinishedMessages<Connection>,
  connection: Connection,
  webSocket: WebSocket,
  socket: Socket,
): void {
  const { frameBytesMax, messagesReadAheadMax } = gateway.settings.limits;
  connection.attach(webSocket);
  connection.handled = () => {
    if (connection.pendingMessages < messagesReadAheadMax && !connection.lost) webSocket.resume();
  };
  gateway.counters.connectionOpened(connection.id);
  startLife(gateway, connection);
  const meter = new FrameMeter(frameBytesMax, () => closeConnection(gateway, connection, 1009, ''));
  // Runs before `ws`: a frame that is too large is refused before it is read.
  socket.prependListener('data', (chunk: Buffer) => {
    if (connection.state !== 'open') return;
    meter.push(chunk);
    unfinished.set(connection, meter.heldBytes);
  });
  socket.on('close', () => unfinished.set(connection, 0));
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    if (connection.state !== 'open') return;
    try {
      if (isBinary) closeConnection(gateway, connection, 1003, '');
      else receiveMessage(gateway, connection, data.toString());
      if (connection.pendingMessages >= messagesReadAheadMax) webSocket.pause();
    } catch (error) {
      // A defect of the emulator ends this connection alone; the handler of the process reports it.
      cutConnection(connection);
      throw error;
    }
  });
  webSocket.on('ping', () => {
    if (gateway.settings.pingResetsIdle) connection.lastActiveAtMs = gateway.settings.clock.now();
  });
  webSocket.on('error', (error: Error & { code?: string }) => {
    const code = closeCodeOf(error.code ?? '');
    if (code !== undefined) endConnection(gateway, connection, code, '');
  });
  webSocket.on('close', (code: number, reason: Buffer) => {
    if (!connection.lost) endConnection(gateway, connection, code, reason.toString());
  });
}

/** The code with which `ws` has closed by itself. Network errors have none: they end as 1006. */
function closeCodeOf(errorCode: string): number | undefined {
  if (!errorCode.startsWith('WS_ERR_')) return undefined;
  if (errorCode === 'WS_ERR_INVALID_UTF8') return 1007;
  if (errorCode === 'WS_ERR_TOO_MANY_BUFFERED_PARTS') return 1008;
  if (errorCode === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return 1009;
  return 1002;
}
