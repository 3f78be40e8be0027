import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';

/** Most characters of a server's explanation that are shown. */
const EXPLANATION_LENGTH_MAX = 300;

/**
 * API Gateway names the connection when it has refused a handshake, but not the reason. An emulator may pass on the
 * answer of the function, which names its subprotocol.
 */
const SIGNS_OF_A_GATEWAY = ['"connectionId"', 'mqtt-text-v'];

/** The answer of a server that refuses the WebSocket: client libraries drop it, and the user needs it. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly explanation: string;
  /** A gateway door has refused, perhaps because the client did not offer text frames. */
  readonly isGateway: boolean;
}

export function refusalText({ status, explanation }: HandshakeRefusal): string {
  return `HTTP ${status}. ${explanation}`.trim();
}

export interface SocketEvents {
  /** Called before the socket is closed. */
  refused(refusal: HandshakeRefusal): void;
  closed(code: number, reason: string): void;
}

type WebSocketOptions = ConstructorParameters<typeof WebSocket>[2];

/** A WebSocket class that says why a server refuses or closes a socket. */
export function explainingWebSocket(events: SocketEvents) {
  return class extends WebSocket {
    constructor(url: string, subprotocols: string | string[], options?: WebSocketOptions) {
      super(url, subprotocols, options);
      this.on('close', (code, reason) => events.closed(code, reason.toString()));
      this.on('unexpected-response', async (_request, response) => {
        const body = await text(response).catch(() => '');
        events.refused({
          status: response.statusCode ?? 0,
          explanation: body.slice(0, EXPLANATION_LENGTH_MAX),
          isGateway: SIGNS_OF_A_GATEWAY.some((sign) => body.includes(sign)),
        });
        this.terminate();
      });
    }
  };
}
