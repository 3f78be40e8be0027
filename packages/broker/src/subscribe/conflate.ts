import { ReasonCode, type SubscribePacket, type SubscriptionRequest, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { Connection, Link } from '../model/link.ts';
import { groupIntervalOf } from '../streams/conflated-intervals.ts';

/** The user property of a SUBSCRIBE that asks for at most one message of each topic in this many milliseconds. */
export const CONFLATE_PROPERTY = 'conflate-ms';

/** An hour: a reader that needs messages less often polls. */
const CONFLATE_MS_MAX = 3_600_000;

/**
 * The interval that a SUBSCRIBE asks for. A `Violation` has the reason code for SUBACK, and does not end the
 * connection.
 */
export function conflateMsOf(
  { ports }: Context,
  { readers, drainSoon }: Link,
  { requestProblemInformation }: Connection,
  packet: SubscribePacket,
  { topicFilter }: SubscriptionRequest,
): number | Violation | undefined {
  const given = packet.properties.userProperties?.find(([name]) => name === CONFLATE_PROPERTY)?.[1];
  if (given === undefined) return undefined;
  const refuse = (reason: string) => new Violation(ReasonCode.ImplementationSpecificError, reason);
  const holds = ports.conflation !== undefined && readers !== undefined && drainSoon !== undefined;
  // A door whose process ends with the call has no timer for held messages.
  if (!holds && ports.conflated === undefined)
    return refuse(`${CONFLATE_PROPERTY} is not granted at this door, which sends each message when it comes`);
  const ms = /^\d{1,7}$/.test(given) ? Number(given) : 0;
  if (ms < 1 || ms > CONFLATE_MS_MAX)
    return refuse(
      `${CONFLATE_PROPERTY} takes milliseconds from 1 to ${CONFLATE_MS_MAX}, not ${JSON.stringify(given.slice(0, 50))}`,
    );
  if (topicFilter.startsWith('$share/')) return refuse('a shared subscription cannot be conflated');
  if (packet.subscriptions.length > 1)
    return refuse(`a SUBSCRIBE that asks for ${CONFLATE_PROPERTY} has one topic filter`);
  if (!requestProblemInformation)
    return refuse('SUBACK answers in user properties: CONNECT with Request Problem Information 1');
  if (holds) return ms;
  const intervalMs = groupIntervalOf(ports.streams, topicFilter, ms);
  return typeof intervalMs === 'string' ? refuse(intervalMs) : intervalMs;
}
