import { text } from 'node:stream/consumers';
import { WebSocket } from 'ws';

/** How much of a server's explanation is worth showing. */
const EXPLANATION_LENGTH_MAX = 300;

/**
 * API Gateway names the connection when it has refused a handshake, and says nothing of the reason. An emulated one may
 * hand on the answer of the function, which names its subprotocol.
 */
const SIGNS_OF_A_GATEWAY = ['"connectionId"', 'mqtt-text-v'];

/** The answer of a server that refuses the WebSocket: clients drop it, and the user needs it. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly explanation: string;
  /** A gateway door has refused, which may be because it was offered no text frames. */
  readonly isGateway: boolean;
}

type Refused = (refusal: HandshakeRefusal) => void;
type WebSocketOptions = ConstructorParameters<typeof WebSocket>[2];

/** The class of such sockets. `refused` is called before the socket is closed. */
export function explainingWebSocket(refused: Refused) {
  return class extends WebSocket {
    constructor(url: string, subprotocols: string | string[], options?: WebSocketOptions) {
      super(url, subprotocols, options);
      this.on('unexpected-response', async (_request, response) => {
        const body = await text(response).catch(() => '');
        refused({
          status: response.statusCode ?? 0,
          explanation: body.slice(0, EXPLANATION_LENGTH_MAX),
          isGateway: SIGNS_OF_A_GATEWAY.some((sign) => body.includes(sign)),
        });
        this.terminate();
      });
    }
  };
}
