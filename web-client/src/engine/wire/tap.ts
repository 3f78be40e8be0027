import { PacketSplitter } from './packet-splitter.ts';

/** The part of a WebSocket that mqtt.js uses: a browser's, that of `ws`, or the transport's. */
export interface TappedSocket {
  send(data: ArrayBuffer | ArrayBufferView<ArrayBuffer>, ...rest: never[]): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
}

/** Receives the packets that pass a socket. Packets come before the MQTT library handles them. */
export interface TapListener {
  packetIn(bytes: Uint8Array): void;
  packetOut(bytes: Uint8Array): void;
  closed(code: number, reason: string): void;
}

/**
 * Listens to a socket that mqtt.js is about to use: the exact bytes of every packet, and the close code, neither of
 * which mqtt.js reports.
 */
export function tapSocket<Socket extends TappedSocket>(socket: Socket, listener: TapListener): Socket {
  const incoming = new PacketSplitter();
  const outgoing = new PacketSplitter();
  socket.addEventListener('message', (event) => {
    const bytes = bytesOf(event.data);
    if (bytes === undefined) return;
    for (const packet of incoming.push(bytes)) listener.packetIn(packet);
  });
  socket.addEventListener('close', (event) => {
    listener.closed(event.code, event.reason);
  });
  const send = socket.send.bind(socket);
  socket.send = (data, ...rest) => {
    // Recorded first: `send` may call back at once, and then the next one begins. A copy: mqtt.js reuses its buffers.
    const bytes = bytesOf(data)?.slice();
    if (bytes !== undefined) for (const packet of outgoing.push(bytes)) listener.packetOut(packet);
    send(data, ...rest);
  };
  return socket;
}

function bytesOf(data: unknown): Uint8Array | undefined {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return undefined;
}
