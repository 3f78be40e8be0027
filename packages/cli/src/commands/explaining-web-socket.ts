import { text } from 'node:stream/consumers';
import type { IClientOptions } from 'mqtt';
import { WebSocket } from 'ws';

/** How much of a server's explanation is worth showing. */
const EXPLANATION_LENGTH_MAX = 300;

/** mqtt.js drops the answer of a server that refuses the WebSocket; the user needs it. */
export function explainingWebSocket(
  explain: (reason: string) => void,
): NonNullable<IClientOptions['createWebsocket']> {
  return (url, subprotocols, options) => {
    const socket = new WebSocket(
      url,
      subprotocols,
      options.wsOptions as ConstructorParameters<typeof WebSocket>[2],
    );
    socket.on('unexpected-response', async (_request, response) => {
      const body = await text(response).catch(() => '');
      explain(`HTTP ${response.statusCode}. ${body.slice(0, EXPLANATION_LENGTH_MAX)}${hintFor(body)}`.trim());
      socket.terminate();
    });
    return socket;
  };
}

/** API Gateway names the connection when a handshake was refused, and says nothing of the reason. */
function hintFor(body: string): string {
  return body.includes('"connectionId"')
    ? ' This looks like a gateway door, which takes clients with the Apus transport; commands speak to node doors.'
    : '';
}
