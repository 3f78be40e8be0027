import { WebSocket } from 'ws';
import { explainError, explainStatus } from './explain.ts';
import type { Wire, WireEvents, WireOptions } from './wire.ts';

/** Characters of an HTTP answer that are shown. */
const ANSWER_BYTES_MAX = 300;

/** Binary frames with the subprotocol `mqtt`: the node door, and every other broker. */
export function openBinaryWire({ url, localAddress }: WireOptions, events: WireEvents): Wire {
  const socket = new WebSocket(url, ['mqtt'], {
    perMessageDeflate: false,
    skipUTF8Validation: true,
    ...(localAddress !== undefined && { localAddress }),
  });
  let reason: string | undefined;
  socket.on('open', () => events.open());
  socket.on('message', (data) => events.bytes(data as Buffer));
  socket.on('unexpected-response', (_request, response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8', 0, ANSWER_BYTES_MAX).trim();
      reason = explainStatus(response.statusCode ?? 0, body);
      socket.terminate();
    });
  });
  socket.on('error', (error) => {
    reason ??= explainError(error, url);
  });
  socket.on('close', (code) => events.closed(reason ?? `the broker closed the connection (code ${code})`));
  return {
    send: (bytes) => socket.send(bytes),
    close: () => socket.close(),
  };
}
