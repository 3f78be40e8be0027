import { ReasonCode } from '@apus/mqtt';
import { mayReceive } from '../connect/authorize.ts';
import type { Context } from '../context.ts';
import { spentOn, wants } from '../deliver/condition.ts';
import { sent } from '../deliver/deliver.ts';
import { disconnect } from '../ending/disconnect.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Connection, Link } from '../model/link.ts';
import { isExpired } from '../model/message.ts';
import type { PageLimit } from '../model/page.ts';
import type { Delivery, Subscription } from '../model/session.ts';
import type { StreamEntry } from '../ports/index.ts';
import { streamOf } from './append.ts';
import { placedMessage, type StreamKind, unplacedMessage } from './position.ts';
import type { Past } from './read-at-once.ts';
import { type Cursor, StreamReader, type Values } from './reader.ts';

/** Messages read at a time. Between pages the broker asks the link for its room. */
const PAGE_LENGTH = 32;

/** Messages read in one turn of the process, some ten milliseconds. The rest comes in later ones. */
export const MESSAGES_IN_A_TURN_MAX = 2_048;

const OVERTAKEN = 'messages of a stream that this client has not read are not kept any more: subscribe again';

/** Sends history to the readers of the connection that are behind, as far as the link has room. */
export function* readOn(context: Context, link: Link, connection: Connection): Flow<void> {
  const turn = { messagesLeft: MESSAGES_IN_A_TURN_MAX };
  for (const subscription of link.readers?.values() ?? []) {
    const { reader } = subscription;
    if (!(reader instanceof StreamReader)) continue;
    if (reader.isLost) return yield* disconnect(context, link, ReasonCode.QuotaExceeded, OVERTAKEN);
    if (reader.behind.size === 0) continue;
    const reading = { link, connection, subscription, reader, turn };
    for (const [topic, cursor] of reader.behind) {
      if (reader.isResting(topic)) continue;
      // Rules may have changed since the message was published.
      if (!(yield* waitFor(mayReceive(context, connection, topic)))) reader.behind.delete(topic);
      else if (!(yield* readTopic(context, reading, topic, cursor))) return;
    }
  }
}

/** A subscription that is behind in some topics. */
interface Reading {
  readonly link: Link;
  readonly connection: Connection;
  readonly subscription: Subscription;
  readonly reader: StreamReader;
  /** Of the connection, which all its subscriptions have in common. */
  readonly turn: { messagesLeft: number };
}

/** False: the link has no more room, or its turn is over. */
function* readTopic(context: Context, reading: Reading, topic: string, cursor: Cursor): Flow<boolean> {
  const { link, reader } = reading;
  while (cursor.values !== undefined || cursor.after < cursor.heldUpTo) {
    const bytes = link.roomBytes();
    if (bytes <= 0 || isTurnOver(reading)) return false;
    const limit = { messages: PAGE_LENGTH, bytes };
    const before = spentOn(context.ports);
    const sent =
      cursor.values === undefined
        ? yield* sendHistory(context, reading, topic, cursor, limit)
        : yield* sendValues(context, reading, cursor, cursor.values, limit);
    reading.turn.messagesLeft -= spentOn(context.ports) - before;
    if (sent === 'lost') {
      yield* disconnect(context, link, ReasonCode.QuotaExceeded, OVERTAKEN);
      return false;
    }
    if (sent === 'end') break;
  }
  // In the same turn as the comparison above: from here on new messages are live.
  reader.behind.delete(topic);
  reader.rest(topic);
  return true;
}

function isTurnOver({ link, turn }: Reading): boolean {
  if (turn.messagesLeft > 0 || link.takeTurn === undefined) return false;
  if (link.waitsForTurn !== true) link.takeTurn();
  return true;
}

/** Sends the past messages of a SUBACK. */
export function* sendPast(
  context: Context,
  connection: Connection,
  subscription: Subscription,
  past: readonly Past[],
): Flow<void> {
  for (const { entry, kind } of past) yield* send(context, connection, subscription, entry, kind);
}

/** Sends a page of last values. */
function* sendValues(
  context: Context,
  reading: Reading,
  cursor: Cursor,
  values: Values,
  limit: PageLimit,
): Flow<'lost' | undefined> {
  const { reader, connection, subscription } = reading;
  const { clock, streams } = context.ports;
  const upTo = reader.valuesUpTo(cursor);
  const tail = { ...values.tail, last: upTo };
  const stream = streamOf(context, tail.topic);
  if (streams === undefined || stream === undefined) return 'lost';
  const { tenant } = connection.identity;
  const page = yield* waitFor(
    streams.store.lastValues(tenant, stream, tail, values.after, limit, clock.now()),
  );
  if (page === 'lost') return page;
  reading.turn.messagesLeft -= page.length;
  if (page.length === 0) values.after = upTo;
  for (const entry of page) {
    values.after = entry.number;
    cursor.after = Math.max(cursor.after, entry.number);
    yield* send(context, connection, subscription, entry, kindOf(cursor, entry));
  }
  if (values.after >= reader.valuesUpTo(cursor)) reader.endValues(cursor);
  return undefined;
}

/** Sends a page of history. */
function* sendHistory(
  context: Context,
  reading: Reading,
  topic: string,
  cursor: Cursor,
  limit: PageLimit,
): Flow<'lost' | 'end' | undefined> {
  const { reader, connection, subscription } = reading;
  const { tenant } = connection.identity;
  const page = yield* waitFor(
    context.ports.streams?.store.read(tenant, topic, cursor.epoch, cursor.after, limit),
  );
  if (page === undefined || page === 'lost') return 'lost';
  if (page.length === 0) return 'end';
  reading.turn.messagesLeft -= page.length;
  for (const entry of page) {
    // If other processes append, the log may be ahead of the messages that live readers were sent.
    if (entry.number > cursor.heldUpTo) break;
    cursor.after = entry.number;
    if (reader.leavesOut(cursor, entry.number)) continue;
    yield* send(context, connection, subscription, entry, kindOf(cursor, entry));
  }
  return undefined;
}

function isWanted(context: Context, subscription: Subscription, { message }: StreamEntry): boolean {
  if (subscription.where === undefined) return true;
  const stream = streamOf(context, message.topic);
  return wants(context.ports, subscription, stream ? unplacedMessage(message, stream) : message);
}

function kindOf({ pastUpTo, kind }: Cursor, { number }: StreamEntry): StreamKind | undefined {
  return number <= pastUpTo ? kind : undefined;
}

function* send(
  context: Context,
  { session }: Connection,
  subscription: Subscription,
  entry: StreamEntry,
  kind: StreamKind | undefined,
): Flow<void> {
  const { connections, clock } = context.ports;
  const { noLocal, subscriptionIdentifier } = subscription;
  const message = placedMessage(entry, kind);
  // [MQTT-3.8.3-3] [MQTT-3.3.2-5]
  if ((noLocal && message.publisherKey === session.key) || isExpired(message, clock.now())) return;
  if (!isWanted(context, subscription, entry)) return;
  const delivery: Delivery = {
    session,
    qos: 0,
    retain: false,
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: undefined,
    packetId: 0,
    dup: false,
    mustArrive: true,
  };
  yield* sent(context, message, connections.publish(message, [delivery]));
}
