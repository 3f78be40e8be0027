/** The part of a WebSocket that gathering needs. */
export interface SendingSocket {
  send(data: ArrayBuffer | ArrayBufferView<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** A frame of this size is sent without waiting. */
const GATHERED_BYTES_MAX = 16 * 1024;

/**
 * Sends the packets of one turn of the event loop in one frame. mqtt.js sends each PUBACK separately, and for a stream
 * at QoS 1 these frames cause most of the work, in the browser and at the broker. MQTT allows several packets in a
 * frame (6.0).
 *
 * @param soon calls back when this turn is over
 */
export function gatherSends<Socket extends SendingSocket>(
  socket: Socket,
  soon: (callback: () => void) => void,
): Socket {
  const send = socket.send.bind(socket);
  const close = socket.close.bind(socket);
  let gathered: Uint8Array[] = [];
  let byteLength = 0;
  const flush = (): void => {
    const pieces = gathered;
    if (pieces.length === 0) return;
    gathered = [];
    const bytes = pieces.length === 1 ? pieces[0] : joined(pieces, byteLength);
    byteLength = 0;
    send(bytes as Uint8Array<ArrayBuffer>);
  };
  socket.send = (data) => {
    if (gathered.length === 0) soon(flush);
    // A copy: mqtt.js reuses its buffers.
    const bytes = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
      : new Uint8Array(data).slice();
    gathered.push(bytes);
    byteLength += bytes.length;
    if (byteLength >= GATHERED_BYTES_MAX) flush();
  };
  socket.close = (...args) => {
    flush();
    close(...args);
  };
  return socket;
}

/** Calls back after the browser's queued tasks, without the delay of timers. */
export function createSoon(): (callback: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return (callback) => {
    waiting.push(callback);
    port2.postMessage(undefined);
  };
}

function joined(pieces: readonly Uint8Array[], byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
