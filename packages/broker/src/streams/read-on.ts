import { ReasonCode } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { handleFailures } from '../deliver.ts';
import { disconnect } from '../end.ts';
import { type Flow, waitFor } from '../flow.ts';
import type { Connection, Link } from '../link.ts';
import { isExpired } from '../message.ts';
import type { StreamEntry } from '../ports/index.ts';
import type { Delivery, Subscription } from '../session.ts';
import { placedMessage, type StreamKind } from './position.ts';
import type { Past } from './read-at-once.ts';
import { type Cursor, StreamReader } from './reader.ts';

/** Messages read at a time. Between pages the broker asks the link for its room. */
const PAGE_LENGTH = 32;

const OVERTAKEN = 'messages of a stream that this client has not read are not kept any more: subscribe again';

/** Sends history to the readers of the connection that are behind, as far as the link has room. */
export function* readOn(context: Context, link: Link, connection: Connection): Flow<void> {
  for (const subscription of link.readers?.values() ?? []) {
    const { reader } = subscription;
    if (!(reader instanceof StreamReader)) continue;
    if (reader.isLost) return yield* disconnect(context, link, ReasonCode.QuotaExceeded, OVERTAKEN);
    if (reader.behind.size === 0) continue;
    const reading = { link, connection, subscription, reader };
    for (const [topic, cursor] of reader.behind) {
      if (reader.isResting(topic)) continue;
      if (!(yield* mayRead(context, connection, topic))) reader.behind.delete(topic);
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
}

/** False: the link has no more room. */
function* readTopic(context: Context, reading: Reading, topic: string, cursor: Cursor): Flow<boolean> {
  const { link, connection, subscription, reader } = reading;
  if (!(yield* sendValues(context, reading, cursor))) return false;
  while (cursor.after < cursor.heldUpTo) {
    const page = yield* readPage(context, reading, topic, cursor);
    if (page === 'no-room') return false;
    if (page === 'lost') {
      yield* disconnect(context, link, ReasonCode.QuotaExceeded, OVERTAKEN);
      return false;
    }
    if (page.length === 0) break;
    for (const entry of page) {
      // If other processes append, the log may be ahead of the messages that live readers were sent.
      if (entry.number > cursor.heldUpTo) break;
      cursor.after = entry.number;
      if (reader.leavesOut(cursor, entry.number)) continue;
      const kind = entry.number <= cursor.pastUpTo ? cursor.kind : undefined;
      yield* send(context, connection, subscription, entry, kind);
    }
  }
  // In the same turn as the comparison above: from here on new messages are live.
  reader.behind.delete(topic);
  reader.rest(topic);
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

/** Rules may have changed since the message was published. */
function* mayRead({ ports }: Context, { identity, session }: Connection, topic: string): Flow<boolean> {
  const terms = { qos: undefined, shareGroup: undefined };
  return yield* waitFor(ports.authorizer.maySubscribe(identity, session.clientId, topic, terms));
}

function* sendValues(
  context: Context,
  { link, connection, subscription }: Reading,
  cursor: Cursor,
): Flow<boolean> {
  while (cursor.values !== undefined) {
    if (link.roomBytes() <= 0) return false;
    const entry = cursor.values.shift();
    if (entry === undefined) cursor.values = undefined;
    else yield* send(context, connection, subscription, entry, 'snapshot');
  }
  return true;
}

function* readPage(
  context: Context,
  { link, connection }: Reading,
  topic: string,
  { epoch, after }: Cursor,
): Flow<readonly StreamEntry[] | 'lost' | 'no-room'> {
  const { streams } = context.ports;
  const { tenant } = connection.identity;
  const bytes = link.roomBytes();
  if (bytes <= 0 || streams === undefined) return 'no-room';
  return yield* waitFor(streams.store.read(tenant, topic, epoch, after, { messages: PAGE_LENGTH, bytes }));
}

function* send(
  context: Context,
  { session }: Connection,
  { noLocal, subscriptionIdentifier }: Subscription,
  entry: StreamEntry,
  kind: StreamKind | undefined,
): Flow<void> {
  const { connections, clock } = context.ports;
  const message = placedMessage(entry, kind);
  // [MQTT-3.8.3-3] [MQTT-3.3.2-5]
  if ((noLocal && message.publisherKey === session.key) || isExpired(message, clock.now())) return;
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
  const failures = yield* waitFor(connections.publish(message, [delivery]));
  if (failures !== undefined) yield* handleFailures(context, message, failures);
}
