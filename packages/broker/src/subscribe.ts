import {
  parseShared,
  ReasonCode,
  type SubscribePacket,
  type SubscriptionRequest,
  Violation,
  validateTopicFilter,
} from '@apus/mqtt';
import type { Context } from './context.ts';
import { violate } from './end.ts';
import { type Flow, waitFor } from './flow.ts';
import { subscriptionsMax } from './holding-quota.ts';
import { type Connection, type Link, namesOf, type Replay } from './link.ts';
import type { SubscribeOutcome } from './ports/index.ts';
import { replay } from './replay.ts';
import { reply } from './reply.ts';
import type { Subscription } from './session.ts';
import { underWay } from './under-way.ts';
import { takeWrites } from './write-quota.ts';

/** A filter of the SUBSCRIBE, and the subscription it becomes or the reason code that refuses it. */
interface Decision {
  readonly request: SubscriptionRequest;
  readonly granted: Subscription | number;
}

/**
 * SUBSCRIBE (section 3.8). The broker writes the subscription before it reads retained messages, and writes a retained
 * message before it matches: no subscriber misses the newest value.
 */
export function* subscribe(
  context: Context,
  link: Link,
  connection: Connection,
  packet: SubscribePacket,
): Flow<void> {
  const decisions: Decision[] = [];
  for (const request of packet.subscriptions) {
    const granted = yield* decide(context, connection, packet, request);
    if (granted instanceof Violation) return yield* violate(context, link, granted);
    decisions.push({ request, granted });
  }
  const outcomes = yield* store(context, connection, decisions);
  // One SUBACK for all filters [MQTT-3.8.4-5], with a reason code for each, in their order [MQTT-3.8.4-6] [MQTT-3.9.3-1].
  const reasonCodes = decisions.map(({ granted }) => reasonCodeOf(granted, outcomes));
  reply(link, connection, { type: 'suback', packetId: packet.packetId, reasonCodes, properties: {} });
  startReplays(link, decisions, outcomes);
  // It has been answered: a second SUBACK that refuses would answer nothing.
  yield* underWay(replay(context, link, connection));
}

function* decide(
  context: Context,
  connection: Connection,
  packet: SubscribePacket,
  { topicFilter: requested, qos, noLocal, retainAsPublished }: SubscriptionRequest,
): Flow<Subscription | number | Violation> {
  const parsed = parseShared(requested);
  if (parsed instanceof Violation) return parsed.reasonCode;
  const { shareGroup, topicFilter } = parsed;
  if (shareGroup !== undefined && noLocal) {
    // [MQTT-3.8.3-4]
    return new Violation(ReasonCode.ProtocolError, 'No Local may not be set on a shared subscription');
  }
  const invalid = validateTopicFilter(topicFilter, context.limits);
  if (invalid !== undefined) return invalid.reasonCode;
  const { identity, session } = connection;
  const { authorizer } = context.ports;
  const isAllowed = yield* waitFor(
    authorizer.maySubscribe(identity, session.clientId, topicFilter, { qos, shareGroup }),
  );
  if (!isAllowed) {
    context.ports.log.warn('subscribe-refused', { ...namesOf(connection), topicFilter });
    return ReasonCode.NotAuthorized;
  }
  const { subscriptionIdentifier } = packet.properties;
  return { topicFilter, shareGroup, qos, noLocal, retainAsPublished, subscriptionIdentifier };
}

function* store(
  context: Context,
  connection: Connection,
  decisions: readonly Decision[],
): Flow<Map<Subscription, SubscribeOutcome>> {
  const subscriptions: Subscription[] = [];
  for (const { granted } of decisions) if (typeof granted !== 'number') subscriptions.push(granted);
  const outcomes = new Map<Subscription, SubscribeOutcome>();
  if (subscriptions.length === 0) return outcomes;
  yield* takeWrites(context, connection, subscriptions.length);
  const maximum = subscriptionsMax(context, connection);
  const answers = yield* waitFor(context.ports.subscriptions.put(connection.session, subscriptions, maximum));
  for (const [index, subscription] of subscriptions.entries()) {
    outcomes.set(subscription, answers[index] ?? 'over-limit');
  }
  return outcomes;
}

function reasonCodeOf(granted: Subscription | number, outcomes: Map<Subscription, SubscribeOutcome>): number {
  if (typeof granted === 'number') return granted;
  return outcomes.get(granted) === 'over-limit' ? ReasonCode.QuotaExceeded : granted.qos;
}

function startReplays(
  link: Link,
  decisions: readonly Decision[],
  outcomes: Map<Subscription, SubscribeOutcome>,
): void {
  if (link.state.phase !== 'connected') return;
  const started: Replay[] = [];
  for (const { request, granted } of decisions) {
    if (typeof granted === 'number') continue;
    if (wantsRetained(request, granted, outcomes.get(granted)))
      started.push({ subscription: granted, from: undefined });
  }
  if (started.length > 0) link.state = { ...link.state, replays: [...link.state.replays, ...started] };
}

/** Retain Handling [MQTT-3.3.1-9] [MQTT-3.3.1-10] [MQTT-3.3.1-11]; a shared subscription gets none (section 4.8.2). */
function wantsRetained(
  { retainHandling }: SubscriptionRequest,
  { shareGroup }: Subscription,
  outcome: SubscribeOutcome | undefined,
): boolean {
  if (shareGroup !== undefined || outcome === 'over-limit') return false;
  return retainHandling === 0 || (retainHandling === 1 && outcome === 'added');
}
