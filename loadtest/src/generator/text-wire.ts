import { createTransport } from '@apus/client';
import { type ClientOptions, WebSocket } from 'ws';
import { explainClose } from './explain.ts';
import type { Wire, WireEvents, WireOptions } from './wire.ts';

/** Offers text frames alone: any other server of MQTT would choose `mqtt`, and nothing of that is billed. */
class TextSocket extends WebSocket {
  constructor(url: string | URL, protocols: string | string[] = [], options?: ClientOptions) {
    super(
      url,
      [protocols].flat().filter((protocol) => protocol !== 'mqtt'),
      options,
    );
  }
}

/**
 * Text frames through the transport that applications use: so the measured and billed traffic is theirs, with the
 * transport's heartbeats, packing and omitted packets.
 */
export function openTextWire({ url, frames, token }: WireOptions, events: WireEvents): Wire {
  let reason: string | undefined;
  const transport = createTransport({
    WebSocket: TextSocket,
    ...(token !== undefined && { token: () => token }),
    onEvent: (event) => {
      if (event.type === 'error') reason ??= withoutIds(event.error.message);
    },
  });
  frames.add(() => transport.statistics);
  const socket = transport.createWebsocket(url, [], { wsOptions: { perMessageDeflate: false } });
  socket.on('open', () => events.open());
  socket.on('message', (data: Buffer | Uint8Array) =>
    events.bytes(Buffer.from(data.buffer, data.byteOffset, data.length)),
  );
  socket.on('error', (error: unknown) => {
    reason ??= error instanceof Error ? error.message : String(error);
  });
  socket.on('close', (code: number) => events.closed(explainClose(code, reason, url)));
  return {
    send: (bytes) => socket.send(bytes),
    close: () => socket.close(),
  };
}

/** Problems are counted by sentence: a name of a connection or request would make each one different. */
function withoutIds(message: string): string {
  return message.replaceAll(/,?\s*"(?:connectionId|requestId)"\s*:\s*"[^"]*"/g, '').replace(/\.$/, '');
}
