import { type Admission, admit } from './connect-route.ts';
import { closeConnection, endConnection, startLife } from './connection-life.ts';
import type { Gateway } from './gateway.ts';
import { InProcessSocket } from './in-process-socket.ts';
import { receiveMessage } from './message-route.ts';
import type { UpgradeRequest } from './read-handshake.ts';

/** A class of WebSockets whose other end is this gateway. */
export type InProcessWebSocket = new (url: string, subprotocols?: readonly string[]) => InProcessSocket;

/** The WebSocket side of the API for clients in this process, which connect from `address`. */
export function inProcessDoor(gateway: Gateway, address: string): InProcessWebSocket {
  return class extends InProcessSocket {
    constructor(url: string, subprotocols: readonly string[] = []) {
      super(url);
      void letIn(gateway, this, requestOf(gateway, url, subprotocols, address));
    }
  };
}

function requestOf(
  gateway: Gateway,
  url: string,
  subprotocols: readonly string[],
  remoteAddress: string,
): UpgradeRequest {
  const { pathname, search } = new URL(url);
  const headers = { host: gateway.domainName, 'sec-websocket-protocol': subprotocols.join(', ') };
  return {
    url: pathname + search,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket: { remoteAddress, localPort: 443 },
  };
}

async function letIn(gateway: Gateway, socket: InProcessSocket, request: UpgradeRequest): Promise<void> {
  const end = gateway.activity.begin();
  const admission = await admit(gateway, request);
  end();
  if (gateway.stopped) return;
  if (admission.accepted) open(gateway, socket, admission);
  else {
    gateway.counters.connectionRefused();
    socket.refuse(admission.status);
  }
}

function open(
  gateway: Gateway,
  socket: InProcessSocket,
  { connection, subprotocol = '' }: Extract<Admission, { accepted: true }>,
): void {
  // The client did not wait for `$connect`: for the function it was connected, so it is told of the end.
  if (socket.readyState !== 0) {
    endConnection(gateway, connection, 1006, '');
    return;
  }
  socket.connectionId = connection.id;
  connection.attach(socket.far);
  gateway.counters.connectionOpened(connection.id);
  startLife(gateway, connection);
  socket.onText = (text) => {
    if (connection.state !== 'open') return;
    const isTooLarge = Buffer.byteLength(text) > gateway.settings.limits.frameBytesMax;
    if (isTooLarge) closeConnection(gateway, connection, 1009, '');
    else receiveMessage(gateway, connection, text);
  };
  socket.onEnd = (code, reason) => {
    if (!connection.lost) endConnection(gateway, connection, code, reason);
  };
  socket.open(subprotocol);
}
