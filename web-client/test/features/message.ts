import { Message, type MessageFields } from '../../src/engine/log/message.ts';
import type { LoggedMessage } from '../../src/engine/types.ts';

const encoder = new TextEncoder();
let sequence = 0;

type Given = Partial<Omit<MessageFields, 'topic' | 'chunk'>>;

/** The fields of a message, as a log takes them. The packet is the payload alone: no feature looks at the rest. */
export function messageFields(
  topic: string,
  payload: string | Uint8Array = '',
  given: Given = {},
): MessageFields {
  const chunk = typeof payload === 'string' ? encoder.encode(payload) : payload;
  return {
    connectionId: 'test',
    direction: 'received',
    atMs: sequence,
    topic,
    qos: 0,
    retain: false,
    dup: false,
    packetId: undefined,
    properties: {},
    subscriptionIds: [],
    chunk,
    packetOffset: 0,
    packetLength: chunk.length,
    payloadOffset: 0,
    latencyMs: undefined,
    missingBefore: 0,
    ...given,
  };
}

/** A message as a log has it. */
export function message(topic: string, payload: string | Uint8Array = '', given: Given = {}): LoggedMessage {
  sequence += 1;
  return new Message(sequence, messageFields(topic, payload, given));
}
