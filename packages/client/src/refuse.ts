import { TransportError } from './errors.ts';
import { FRAME_BYTES_MAX } from './limits.ts';
import { bodyOf, PacketType, qosOf, typeOf, uint16At } from './packet.ts';
import type { SplitPacket } from './packet-splitter.ts';

/** As much of mqtt.js's client as is needed to tell it of errors. */
export interface ErrorReceiver {
  readonly disconnecting: boolean;
  readonly outgoing: Record<number, { cb: (error: Error, packet?: never) => void }>;
  removeOutgoingMessage(messageId: number): unknown;
  emit(event: 'error', error: Error): unknown;
  emit(event: 'outgoingEmpty'): unknown;
}

const NAMES: Readonly<Record<number, string>> = {
  [PacketType.CONNECT]: 'CONNECT (shorten the will or the properties)',
  [PacketType.PUBLISH]: 'PUBLISH (send less at once)',
  [PacketType.SUBSCRIBE]: "SUBSCRIBE (set mqtt.js's subscribeBatchSize)",
  [PacketType.UNSUBSCRIBE]: 'UNSUBSCRIBE (send fewer filters at once)',
};

export function tooLarge({ bytes, size }: SplitPacket): TransportError {
  const name = NAMES[typeOf(bytes)] ?? `packet of type ${typeOf(bytes)}`;
  return new TransportError(
    'packet-too-large',
    `Not sent: ${size} bytes of ${name}. A packet has at most ${FRAME_BYTES_MAX} bytes.`,
  );
}

/**
 * Lets the callback of the refused packet fail, in every version of MQTT; as if it had been removed, so that it is
 * not sent again. A QoS 0 publish has had its callback when it was written: that one is an `error` of the client.
 */
export function tellRefused(client: ErrorReceiver, { bytes }: SplitPacket, error: Error): void {
  const id = packetIdOf(bytes);
  const pending = id === undefined ? undefined : client.outgoing[id];
  if (id === undefined || pending === undefined) {
    client.emit('error', error);
    return;
  }
  const { cb } = pending;
  pending.cb = (_removed, packet) => cb(error, packet);
  client.removeOutgoingMessage(id);
  // mqtt.js says so for acknowledgements only, and its end() waits for it.
  if (client.disconnecting && Object.keys(client.outgoing).length === 0) client.emit('outgoingEmpty');
}

function packetIdOf(packet: Uint8Array): number | undefined {
  const body = bodyOf(packet);
  switch (typeOf(packet)) {
    case PacketType.PUBLISH:
      return qosOf(packet) === 0 ? undefined : uint16At(packet, body + 2 + uint16At(packet, body));
    case PacketType.SUBSCRIBE:
    case PacketType.UNSUBSCRIBE:
      return uint16At(packet, body);
    default:
      return undefined;
  }
}
