import { ReasonCode, type SubscribePacket, type SubscriptionRequest, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import type { Connection, Link } from '../model/link.ts';
import { type Reader, readsOnOf } from '../model/session.ts';
import type { Joining } from './join.ts';
import { parseStreamFilter, type StreamFilter } from './names.ts';
import { LiveReader, READERS_PER_CONNECTION_MAX, StreamReader } from './reader.ts';
import { asksForPast, parseStart } from './start.ts';

/**
 * The reading that a filter of the SUBSCRIBE asks for. Undefined: a plain subscription. A `Violation` has the reason
 * code for SUBACK, and does not end the connection.
 */
export function joiningOf(
  context: Context,
  link: Link,
  connection: Connection,
  packet: SubscribePacket,
  { topicFilter: requested }: SubscriptionRequest,
  conflateMs: number | undefined,
): Joining | Violation | undefined {
  const { streams, clock } = context.ports;
  const { userProperties } = packet.properties;
  const isAsking = streams !== undefined && asksForPast(userProperties);
  const named = parseStreamFilter(requested, streams);
  if (named instanceof Violation || (named === undefined && !isAsking)) return named;
  const refused = refusalOf(link, connection, packet, isAsking);
  if (refused !== undefined) return refused;
  const found: StreamFilter | undefined = named ?? plainFilter(context, requested);
  if (found === undefined)
    return new Violation(
      ReasonCode.TopicFilterInvalid,
      `no stream keeps all that ${JSON.stringify(requested)} matches`,
    );
  const start = parseStart(userProperties, found.topicFilter, clock.now());
  if (typeof start === 'string') return new Violation(ReasonCode.ImplementationSpecificError, start);
  return { ...found, start, reader: readerOf(context, link, connection, found.topicFilter, conflateMs) };
}

export function readerOf(
  { ports: { conflation } }: Context,
  link: Link,
  { session: { key, attachment } }: Connection,
  topicFilter: string,
  conflateMs: number | undefined,
): Reader {
  if (link.readers === undefined) return new LiveReader(attachment ? readsOnOf(attachment) : link.id);
  if (conflateMs === undefined || conflation === undefined) return new StreamReader(link.id);
  const conflate = { topicFilter, ms: conflateMs };
  return new StreamReader(link.id, {
    ms: conflateMs,
    rest: (topic, ended) => conflation.rest(key, conflate, topic, ended),
    readOn: () => link.drainSoon?.(),
  });
}

function plainFilter({ ports: { streams } }: Context, topicFilter: string): StreamFilter | undefined {
  const stream = streams?.declared.coveringFilter(topicFilter);
  return stream && { stream, topicFilter };
}

function refusalOf(
  { readers, pastRoom }: Link,
  { protocolVersion, requestProblemInformation }: Connection,
  packet: SubscribePacket,
  isAsking: boolean,
): Violation | undefined {
  const specific = (reason: string) => new Violation(ReasonCode.ImplementationSpecificError, reason);
  if (protocolVersion < 5) return specific('a stream is read with MQTT 5.0, which has user properties');
  if (readers === undefined && pastRoom === undefined) return specific('this door does not read streams');
  if (readers !== undefined && readers.size >= READERS_PER_CONNECTION_MAX)
    return new Violation(
      ReasonCode.QuotaExceeded,
      `a connection reads at most ${READERS_PER_CONNECTION_MAX} streams`,
    );
  if (!isAsking) return undefined;
  // SUBACK has one list of user properties, and none if the client wants no problem information [MQTT-3.1.2-29].
  if (packet.subscriptions.length > 1)
    return specific('a SUBSCRIBE that asks for the past has one topic filter');
  if (!requestProblemInformation)
    return specific('SUBACK answers in user properties: CONNECT with Request Problem Information 1');
  return undefined;
}
