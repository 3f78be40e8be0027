import { parseShared, ReasonCode, type UnsubscribePacket, Violation, validateTopicFilter } from '@apus/mqtt';
import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import { type Connection, isReading, type Link } from './link.ts';
import type { FilterName } from './ports/index.ts';
import { stopReplays } from './replay.ts';
import { reply } from './reply.ts';
import type { Subscription } from './session.ts';
import { parseStreamFilter } from './streams/names.ts';
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
  const parsed = packet.topicFilters.map((topicFilter) => nameOf(context, topicFilter));
  const names = parsed.filter((name): name is FilterName => typeof name !== 'number');
  yield* takeWrites(context, connection, names.length);
  const existed = yield* waitFor(context.ports.subscriptions.remove(connection.session, names));
  const isNamed = ({ topicFilter }: Subscription) =>
    names.some((name) => name.shareGroup === undefined && name.topicFilter === topicFilter);
  yield* stopReplays(context, link, connection, isNamed);
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
  reply(link, connection, { type: 'unsuback', packetId: packet.packetId, reasonCodes, properties: {} });
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
