import { ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { authorizedTopic } from './delayed.ts';

/** A message, or a will, before it is published. */
interface CheckedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly retain: boolean;
}

/**
 * The reason why a payload may not be published to its topic; undefined if it may. An empty payload with RETAIN
 * deletes a retained message [MQTT-3.3.1-6], and is not checked.
 *
 * @param topic the topic name, if the packet has a Topic Alias instead
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
