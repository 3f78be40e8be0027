import type { Message } from '@apus/broker';
import { encodePublish } from '@apus/mqtt';
import type { Load } from './ways.ts';

/** The topic, and the filter that everybody holds. */
export const FILTER = 'bench';

let messages = 0;

/** Messages that were never sent before. */
export function messagesOf({ messages: count, qos, payloadBytes }: Load): Message[] {
  return Array.from({ length: count }, () => {
    messages += 1;
    return {
      id: `${messages.toString(36).padStart(13, '0')}-bench`,
      topic: FILTER,
      payload: Buffer.alloc(payloadBytes, messages),
      qos,
      retain: false,
      properties: {},
      expiresAtMs: undefined,
      publisherKey: undefined,
    };
  });
}

/** As it is for a recipient that keeps nothing. */
export function encodeMessage({ topic, payload, qos, retain, properties }: Message): Uint8Array {
  const packetId = qos === 0 ? 0 : 0x8000 + (messages % 0x8000);
  const publish = { type: 'publish', topic, payload, qos, retain, dup: false, packetId, properties } as const;
  return encodePublish(publish, 5).bytes;
}
