import { Message, type MessageFields } from '../../src/engine/log/message.ts';
import type { LoggedMessage } from '../../src/engine/types.ts';

const encoder = new TextEncoder();
let sequence = 0;

/** A message as a log has it. Its packet is its payload alone: no feature looks at the rest. */
export function message(
  topic: string,
  payload: string | Uint8Array = '',
  fields: Partial<Omit<MessageFields, 'topic' | 'chunk'>> = {},
): LoggedMessage {
  const chunk = typeof payload === 'string' ? encoder.encode(payload) : payload;
  sequence += 1;
  return new Message(sequence, {
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
    ...fields,
  });
}
