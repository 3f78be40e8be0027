import { TransportError } from './errors.ts';
import { FRAME_BYTES_MAX } from './limits.ts';
import { packetIdOf, qosOf, typeOf } from './packet.ts';
import type { SplitPacket } from './packet-splitter.ts';
import * as PacketType from './packet-type.ts';

/** The part of mqtt.js's client that is needed to report errors, and to bound its SUBSCRIBEs. */
export interface ErrorReceiver {
  readonly options: { subscribeBatchSize?: number };
  readonly disconnecting: boolean;
  readonly outgoing: Record<number, { cb: (error: Error, packet?: never) => void }>;
  removeOutgoingMessage(messageId: number): unknown;
  emit(event: 'error', error: Error): unknown;
  emit(event: 'outgoingEmpty'): unknown;
  subscribe(topics: string | string[] | object, ...others: never[]): unknown;
}

/** Filters in one SUBSCRIBE. Several SUBSCRIBEs leave in one frame. */
const SUBSCRIBE_BATCH_SIZE = 100;

/** For each filter beside its text: three for its length and options, and two filters make room for the packet's head. */
const FILTER_BYTES = 9;

/**
 * mqtt.js bounds a SUBSCRIBE by the number of its filters alone. After a reconnect it repeats all of them, and no
 * callback would learn of a packet that is too large. So the number goes down to what fits of the longest filter, and
 * stays there, as mqtt.js may make the packet later.
 */
export function boundSubscribes(client: ErrorReceiver): void {
  const { options, subscribe } = client;
  client.subscribe = (topics, ...others) => {
    const filters =
      typeof topics === 'string' ? [topics] : Array.isArray(topics) ? topics : Object.keys(topics);
    for (const filter of filters) {
      const { subscribeBatchSize: most = SUBSCRIBE_BATCH_SIZE } = options;
      const fitting = FRAME_BYTES_MAX / (new TextEncoder().encode(filter).length + FILTER_BYTES);
      options.subscribeBatchSize = Math.floor(Math.min(most, fitting)) || 1;
    }
    return subscribe.call(client, topics, ...others);
  };
}

export function tooLarge({ size }: SplitPacket): TransportError {
  const message = `Not sent: a packet of ${size} bytes; at most ${FRAME_BYTES_MAX}.`;
  return new TransportError('packet-too-large', message);
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
