import { matches } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { Delivery, SessionRef } from '../model/session.ts';
import type { DropNotice, DropReason } from '../ports/index.ts';

/**
 * The topic of notices about dropped messages. A session that subscribes to it is told of its own drops, and no client
 * may publish to it.
 */
export const DROPPED_TOPIC = '$SYS/session/dropped';

/** The user property of CONNACK that names the topic. */
export const DROPPED_TOPIC_PROPERTY = 'dropped-topic';

const encoder = new TextEncoder();

/** The name of each reason in a notice and in the API: EMQX's name where it counts the same. */
export const DROP_NAMES = {
  'queue-full': 'queue_full',
  'slow-consumer': 'qos0_msg',
  'too-large': 'too_large',
  'not-authorized': 'not_authorized',
  'identity-expired': 'identity_expired',
} as const satisfies Readonly<Record<DropReason, string>>;

/**
 * Writes one line for a message, whatever the number of recipients for which it was dropped. `no-member`: the sessions
 * of a share group ended one after another while they were given it.
 */
export function logDropped(
  { ports }: Context,
  message: Message,
  count: number,
  why: DropReason | 'banned' | 'no-member',
): void {
  ports.log.warn('messages-dropped', { why, count, topic: message.topic, messageId: message.id });
}

/**
 * Tells a client how many of its messages were dropped, if it subscribes to these notices and its connection is ready.
 * The notice has QoS 0, since a full queue has no room for it. The next notice has the sum as well.
 */
export function* tellDropped(context: Context, session: SessionRef, isUrgent: boolean): Flow<void> {
  const { drops, connections, subscriptions } = context.ports;
  if (drops?.isDue(session, isUrgent) !== true) return;
  const { attachment } = session;
  if (attachment === undefined || !connections.isReady(attachment.connectionId)) return;
  const held = yield* waitFor(subscriptions.list(session));
  const wanted = held.find(({ topicFilter }) => matches(topicFilter, DROPPED_TOPIC));
  if (wanted === undefined) return;
  const { subscriptionIdentifier } = wanted;
  const delivery: Delivery = {
    session,
    qos: 0,
    retain: false,
    subscriptionIdentifiers: subscriptionIdentifier === undefined ? undefined : [subscriptionIdentifier],
    share: undefined,
    packetId: 0,
    dup: false,
  };
  yield* waitFor(connections.publish(noticeOf(context, drops.take(session)), [delivery]));
}

/** `{"dropped":12,"queue_full":12,"total":40}`: since the last notice, by reason, and since the session began. */
function noticeOf({ messageClock }: Context, { since, total }: DropNotice): Message {
  const reasons = Object.entries(since).map(
    ([why, count]) => [DROP_NAMES[why as DropReason], count] as const,
  );
  const dropped = reasons.reduce((sum, [, count]) => sum + count, 0);
  return {
    id: messageClock.next(),
    topic: DROPPED_TOPIC,
    payload: encoder.encode(JSON.stringify({ dropped, ...Object.fromEntries(reasons), total })),
    qos: 0,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
  };
}
