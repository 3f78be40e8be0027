import type { Message } from '@apus/broker';
import type { MessageProperties } from '@apus/mqtt';

/** A message with this payload. */
export function messageOf(payload: string | Uint8Array, properties: MessageProperties = {}): Message {
  return {
    ...{
      id: '1',
      topic: 'sensors/kitchen/temp',
      payload: Buffer.from(payload),
      qos: 1,
      retain: false,
      properties,
    },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
  };
}
