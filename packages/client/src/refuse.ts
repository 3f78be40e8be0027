import { TransportError } from './errors.ts';
import { FRAME_BYTES_MAX } from './limits.ts';
import { packetIdOf, qosOf, typeOf } from './packet.ts';
import type { SplitPacket } from './packet-splitter.ts';
import * as PacketType from './packet-type.ts';

/** The part of mqtt.js's client that is needed to report errors. */
export interface ErrorReceiver {
  readonly disconnecting: boolean;
  readonly outgoing: Record<number, { cb: (error: Error, packet?: never) => void }>;
  removeOutgoingMessage(messageId: number): unknown;
  emit(event: 'error', error: Error): unknown;
  emit(event: 'outgoingEmpty'): unknown;
}

const NAMES: Readonly<Record<number, string>> = {
  [PacketType.CONNECT]: 'CONNECT',
  [PacketType.PUBLISH]: 'PUBLISH',
  [PacketType.SUBSCRIBE]: 'SUBSCRIBE (set subscribeBatchSize)',
  [PacketType.UNSUBSCRIBE]: 'UNSUBSCRIBE',
};

export function tooLarge({ bytes, size }: SplitPacket): TransportError {
  const name = NAMES[typeOf(bytes)] ?? `packet of type ${typeOf(bytes)}`;
  return new TransportError(
    'packet-too-large',
    `Not sent: ${size} bytes of ${name}; at most ${FRAME_BYTES_MAX}.`,
  );
}

/**
 * Calls the callback of the refused packet with an error, in every version of MQTT. mqtt.js treats the packet as
 * removed and does not send it again. A QoS 0 publish has had its callback when it was written: its refusal is an
 * `error` event of the client.
 */
export function tellRefused(client: ErrorReceiver, { bytes }: SplitPacket, error: Error): void {
  const id = packetIdOf(bytes);
  const isQos0 = typeOf(bytes) === PacketType.PUBLISH && qosOf(bytes) === 0;
  const pending = isQos0 ? undefined : client.outgoing[id];
  if (pending === undefined) {
    client.emit('error', error);
    return;
  }
  const { cb } = pending;
  pending.cb = (_removed, packet) => cb(error, packet);
  client.removeOutgoingMessage(id);
  // mqtt.js emits this for acknowledgements only, and its end() waits for it.
  if (client.disconnecting && Object.keys(client.outgoing).length === 0) client.emit('outgoingEmpty');
}
