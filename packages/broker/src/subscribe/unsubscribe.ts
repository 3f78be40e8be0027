import { parseShared, ReasonCode, type UnsubscribePacket, Violation, validateTopicFilter } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { violate } from '../ending/disconnect.ts';
import { FILTERS_PER_TURN, type Flow, nextTurn, waitFor } from '../model/flow.ts';
import { type Connection, isReading, type Link } from '../model/link.ts';
import type { FilterName } from '../model/session.ts';

import { reply } from '../reply.ts';
import { parseStreamFilter } from '../streams/names.ts';
import { filtersViolation } from './filters-violation.ts';
import { stopReplays } from './replay.ts';
import { takeWrites } from './write-quota.ts';

/**
 * UNSUBSCRIBE (section 3.10): inflight messages are still completed [MQTT-3.10.4-3], no new ones are added
 * [MQTT-3.10.4-2].
 */
export function* unsubscribe(
  context: Context,
  link: Link,
  connection: Connection,
  packet: UnsubscribePacket,
): Flow<void> {
  const { packetId, topicFilters } = packet;
  const violation = filtersViolation(connection, 'unsuback', packetId, topicFilters);
  if (violation !== undefined) return yield* violate(context, link, violation);
  const parsed = topicFilters.map((topicFilter) => nameOf(context, topicFilter));
  const names = parsed.filter((name): name is FilterName => typeof name !== 'number');
  yield* takeWrites(context, connection, names.length);
  const existed: boolean[] = [];
  for (let start = 0; start < names.length; start += FILTERS_PER_TURN) {
    if (start > 0) yield* nextTurn();
    const some = names.slice(start, start + FILTERS_PER_TURN);
    existed.push(...(yield* waitFor(context.ports.subscriptions.remove(connection.session, some))));
  }
  // [SEC-WORK-8]
  const plain = new Set(names.flatMap((name) => (name.shareGroup === undefined ? name.topicFilter : [])));
  yield* stopReplays(context, link, connection, ({ topicFilter }) => plain.has(topicFilter));
  for (const { topicFilter, shareGroup } of names)
    if (shareGroup === undefined) {
      if (isReading(link)) link.readers?.delete(topicFilter);
      context.ports.conflation?.forget(connection.session.key, topicFilter);
    }
  const answers = existed.values();
  // [MQTT-3.10.4-4] [MQTT-3.10.4-5] [MQTT-3.11.3-1]
  const reasonCodes = parsed.map((name) => {
    if (typeof name === 'number') return name;
    return answers.next().value === true ? ReasonCode.Success : ReasonCode.NoSubscriptionExisted;
  });
  reply(link, connection, { type: 'unsuback', packetId, reasonCodes, properties: {} });
}

function nameOf(context: Context, requested: string): FilterName | number {
  const ofStream = parseStreamFilter(requested, context.ports.streams);
  if (ofStream instanceof Violation) return ofStream.reasonCode;
  if (ofStream !== undefined) return { topicFilter: ofStream.topicFilter, shareGroup: undefined };
  const parsed = parseShared(requested);
  if (parsed instanceof Violation) return parsed.reasonCode;
  const invalid = validateTopicFilter(parsed.topicFilter, context.limits);
  return invalid === undefined ? parsed : invalid.reasonCode;
}
