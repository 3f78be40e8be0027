import { ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from './context.ts';
import { authorizedTopic } from './delayed.ts';

/** A message, or a will, before it is published. */
interface CheckedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
}

/**
 * Why the payload may not be published to its topic; undefined where it may. An empty payload with RETAIN takes a retained
 * message away [MQTT-3.3.1-6], and is no value.
 *
 * @param topic where a Topic Alias stands for it
 */
export function payloadViolation(
  { ports: { payloads } }: Context,
  tenant: string,
  { payload, retain, topic: ownTopic }: CheckedMessage,
  topic = ownTopic,
): Violation | undefined {
  if (payloads === undefined || (retain && payload.length === 0)) return undefined;
  const problem = payloads.problemOf(tenant, authorizedTopic(topic), payload);
  return problem === undefined ? undefined : new Violation(ReasonCode.PayloadFormatInvalid, problem);
}
