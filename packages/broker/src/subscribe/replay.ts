import type { QoS } from '@apus/mqtt';
import { mayReceive } from '../connect/authorize.ts';
import type { Context } from '../context.ts';
import { spentOn, wants } from '../deliver/condition.ts';
import { isUnkept, queueLimits, sent, unkeptPacketId } from '../deliver/deliver.ts';
import { logDropped } from '../deliver/drops.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { type Connection, type Link, namesOf, type Replay } from '../model/link.ts';
import type { Message } from '../model/message.ts';
import type { Delivery, Subscription } from '../model/session.ts';
import { type OpenedSession, type RetainedPage, Unavailable } from '../ports/index.ts';
import { isPresenceFilter } from '../presence/names.ts';
import { chargeReads, mayRead } from './write-quota.ts';

/** Retained messages sent at a time; between pages the link is asked how much it takes. */
const PAGE_LENGTH = 32;

/**
 * Entries of the store that the replays of a link look at in one turn [SEC-WORK-2]. The rest has a later turn: others
 * are served in between, also where thousands of filters match nothing.
 */
export const LOOKED_AT_IN_A_TURN_MAX = 32_768;

/** Entries that are looked at in the time of a delivery. */
const LOOKS_PER_DELIVERY = 8;

/** Characters of the filters in a session's note: DynamoDB charges for each KB of the record that has it. */
const NOTE_LENGTH_MAX = 16_384;

/**
 * Sends retained messages to new subscriptions, a page at a time, while the link has room and no message waits in the
 * session's queue. So a hundred thousand of them need no memory, and none is dropped. A retained message that is read
 * later is newer: it can repeat a live message, and never undoes one. Where a client has had the store read as much as
 * it may for now, its next packets go on [SEC-POOL-6].
 *
 * SUBACK has promised them. If some have to wait, the session's record names their filters: if the client comes back
 * over another connection, they are sent from their beginning.
 */
export function* replay(context: Context, link: Link, connection: Connection): Flow<void> {
  const { state } = link;
  if (state.phase !== 'connected' || state.replays.length === 0) return;
  const sending = { replays: [...state.replays], index: 0 };
  try {
    yield* sendPages(context, link, connection, sending);
  } finally {
    yield* keepReplays(context, link, connection, state.replays, sending.replays.slice(sending.index));
  }
}

/** The replays that the last connection of a session has left. A subscription that has ended since needs none. */
export function* notedReplays(
  { ports: { sessions, subscriptions } }: Context,
  link: Link,
  { session, previous }: OpenedSession,
): Flow<readonly Replay[]> {
  const noted = new Set(previous?.replays);
  if (noted.size === 0) return [];
  const held = yield* waitFor(subscriptions.list(session));
  const replays = held
    .filter(({ topicFilter, shareGroup }) => shareGroup === undefined && noted.has(topicFilter))
    .map((subscription) => ({ ...replayOf(subscription), isNoted: true }));
  if (replays.length === 0) yield* waitFor(sessions.noteReplays(session, link.id, []));
  return replays;
}

/** The replay of a new subscription, from its beginning. */
export function replayOf({ topicFilter, qos, subscriptionIdentifier, where }: Subscription): Replay {
  const plain = { topicFilter, qos, subscriptionIdentifier, from: undefined };
  return where === undefined ? plain : { ...plain, where };
}

/** Ends the replays of subscriptions that have ended. */
export function* stopReplays(
  context: Context,
  link: Link,
  connection: Connection,
  isStopped: (replay: Replay) => boolean,
): Flow<void> {
  const { state } = link;
  if (state.phase !== 'connected' || state.replays.length === 0) return;
  const left = state.replays.filter((each) => !isStopped(each));
  if (left.length === state.replays.length) return;
  // The note names an ended subscription: the others are noted anew.
  const unnoted = left.map((each) => ({ ...each, isNoted: false }));
  yield* keepReplays(context, link, connection, state.replays, unnoted);
}

/** Keeps the rest of the replays `before` with the link, and their filters with the session. */
function* keepReplays(
  context: Context,
  link: Link,
  connection: Connection,
  before: readonly Replay[],
  left: readonly Replay[],
): Flow<void> {
  const isNoted = connection.expirySeconds > 0 && (yield* note(context, link, connection, before, left));
  const { state } = link;
  if (state.phase !== 'connected') return;
  link.state = { ...state, replays: isNoted ? left.map((each) => ({ ...each, isNoted })) : left };
}

/**
 * Whether the session's record names the filters of all that is left. If it cannot be written, the client's next packet
 * tries again. A filter that needs no replay any more stays in the record until the last one does not.
 */
function* note(
  { ports: { sessions, log } }: Context,
  link: Link,
  { session }: Connection,
  before: readonly Replay[],
  left: readonly Replay[],
): Flow<boolean> {
  const isToldAlready = left.every(({ isNoted }) => isNoted);
  const isOver = left.length === 0 && before.some(({ isNoted }) => isNoted);
  if (isToldAlready && !isOver) return true;
  const filters = withinNote(left);
  if (filters.length < left.length) log.warn('replays-not-noted', { ...namesOf(link), count: left.length });
  try {
    yield* waitFor(sessions.noteReplays(session, link.id, filters));
    return true;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const { reasonCode, message: reason } = error;
    log.warn('unavailable', { what: 'the note of retained messages', reasonCode, reason });
    return false;
  }
}

/** The filters, without those beyond the limit. */
function withinNote(replays: readonly Replay[]): readonly string[] {
  const filters: string[] = [];
  let length = 0;
  for (const { topicFilter } of replays) {
    length += topicFilter.length;
    if (length > NOTE_LENGTH_MAX) break;
    filters.push(topicFilter);
  }
  return filters;
}

/** Replays that are under way: those before `index` are over. `sendPages` moves it. */
interface Sending {
  readonly replays: Replay[];
  index: number;
}

function* sendPages(context: Context, link: Link, connection: Connection, sending: Sending): Flow<void> {
  let lookedAt = 0;
  while (link.waitsForTurn !== true) {
    const current = sending.replays[sending.index];
    if (current === undefined) return;
    if (link.state.phase !== 'connected' || link.roomBytes() <= 0) return;
    if (lookedAt >= LOOKED_AT_IN_A_TURN_MAX) return link.takeTurn?.();
    if (!mayRead(context, connection)) return link.putOff?.();
    // Rules may have changed since SUBSCRIBE [SEC-RULES-9].
    const { topicFilter } = current;
    if (!(yield* waitFor(mayReceive(context, connection, topicFilter, current)))) {
      context.ports.log.warn('replay-refused', { ...namesOf(link), topicFilter });
      sending.index += 1;
      continue;
    }
    const page = yield* nextPage(context, link, connection, current, LOOKED_AT_IN_A_TURN_MAX - lookedAt);
    if (page === 'put-off') return link.putOff?.();
    if (page === 'held-back') return;
    const before = spentOn(context.ports);
    for (const message of page.messages)
      if (wants(context.ports, current, message)) yield* replayMessage(context, connection, current, message);
    const spent = (spentOn(context.ports) - before) * LOOKS_PER_DELIVERY;
    if (link.takeTurn !== undefined) lookedAt += 1 + (page.lookedAt ?? page.messages.length) + spent;
    if (page.next === undefined) sending.index += 1;
    else sending.replays[sending.index] = { ...current, from: page.next };
    if (!(yield* chargeReads(context, connection, page.readUnits ?? 0))) return link.putOff?.();
  }
}

/**
 * The next page, if it may be sent now. If a read fails, nothing of the page has been sent, and the client's next
 * packet reads it again. If a write fails, some of the page may have been sent, and would come twice.
 */
function* nextPage(
  context: Context,
  link: Link,
  connection: Connection,
  current: Replay,
  lookedAt: number,
): Flow<RetainedPage | 'held-back' | 'put-off'> {
  try {
    const page = yield* readPage(context, link, connection, current, lookedAt);
    // Most filters have nothing retained. Then the queue is not asked, which saves a read at the gateway door.
    if (page.messages.length > 0 && (yield* isSomethingWaiting(context, connection))) return 'held-back';
    return page;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    const { reasonCode, message: reason } = error;
    context.ports.log.warn('unavailable', { what: 'retained messages', reasonCode, reason });
    return 'put-off';
  }
}

/**
 * If messages wait, the client's next packets bring them first. `lookAgain` makes sure that they are dequeued:
 *
 *     publisher                          handler of SUBSCRIBE
 *     stores a message
 *     dies before it says that it waits
 *                                        reads: one message waits, and none is dequeued
 *     (without it the retained messages would be held back until the next connection)
 */
function* isSomethingWaiting({ ports: { queues } }: Context, { session }: Connection): Flow<boolean> {
  if ((yield* waitFor(queues.length(session))) === 0) return false;
  if (queues.lookAgain !== undefined) yield* waitFor(queues.lookAgain(session));
  return true;
}

function* readPage(
  context: Context,
  link: Link,
  { identity: { tenant } }: Connection,
  { topicFilter, from }: Replay,
  lookedAt: number,
): Flow<RetainedPage> {
  const { retained, presence, clock } = context.ports;
  const messages = Math.min(PAGE_LENGTH, context.limits.queueLengthMax);
  const limit = { messages, bytes: link.roomBytes(), lookedAt };
  if (presence !== undefined && isPresenceFilter(topicFilter))
    return yield* waitFor(presence.store.match(tenant, topicFilter, from, limit));
  return yield* waitFor(retained.match(tenant, topicFilter, clock.now(), from, limit));
}

function* replayMessage(
  context: Context,
  { session }: Connection,
  { qos, subscriptionIdentifier }: Replay,
  message: Message,
): Flow<void> {
  const { queues, connections, drops } = context.ports;
  const delivery: Delivery = {
    session,
    qos: Math.min(message.qos, qos) as QoS,
    // RETAIN is 1 on a retained message sent for a new subscription; Retain As Published has no part [MQTT3-3.3.1-8].
    retain: true,
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: undefined,
    packetId: 0,
    dup: false,
  };
  if (isUnkept(delivery)) delivery.packetId = unkeptPacketId(message);
  else if (delivery.qos > 0) {
    const dropped = yield* waitFor(queues.offer(message, [delivery], queueLimits(context)));
    if (dropped > 0) {
      drops?.add(session, 'queue-full', dropped);
      logDropped(context, message, dropped, 'queue-full');
    }
    if (delivery.packetId === 0) return;
  }
  yield* sent(context, message, connections.publish(message, [delivery]));
}
