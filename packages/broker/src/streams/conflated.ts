import type { Context } from '../context.ts';
import { whenDelivered } from '../deliver.ts';
import { type Flow, waitFor } from '../flow.ts';
import { isExpired } from '../message.ts';
import type { ConflatedGroup, ConflatedTick, MatchedFilter, StreamTopicTail } from '../ports/index.ts';
import { fanOutOf } from '../wide.ts';
import { formatPosition, placedMessage } from './position.ts';
import { TOPICS_AT_ONCE_MAX } from './read-at-once.ts';

/** Topics at which a tick looks. A group begins with at most `TOPICS_AT_ONCE_MAX`, and others may come. */
const TICK_TOPICS_MAX = 10 * TOPICS_AT_ONCE_MAX;

/**
 * A message has its place, and then its subscribers were looked up: the groups among them are told at the end of their
 * interval. A group has one tick at a time, which is armed, or tells the group. The tick looks once more when it has made
 * room for the next one:
 *
 *     publisher                          tick
 *                                        tells the group the newest message, 4
 *     appends 5
 *     finds a tick: arms none
 *                                        makes room for the next tick
 *                                        finds 5, and arms it
 */
export function* armConflated(
  { ports: { conflated } }: Context,
  tenant: string,
  matched: readonly MatchedFilter[],
): Flow<void> {
  if (conflated === undefined) return;
  for (const { topicFilter, unarmedMs = [] } of matched)
    for (const intervalMs of unarmedMs)
      yield* waitFor(conflated.arm({ tenant, topicFilter, intervalMs }, intervalMs));
}

/** The tick of a group: workers send its subscribers the newest message of each topic that has changed. */
export function* tellConflated(context: Context, group: ConflatedGroup, tickId: string): Flow<void> {
  const { conflated, clock } = context.ports;
  const tick = yield* waitFor(conflated?.begin(group, tickId));
  if (tick === undefined || tick === 'over') return;
  const nextAtMs = clock.now() + group.intervalMs;
  const told = new Map<string, string>();
  for (const tail of yield* tailsOf(context, group)) {
    const position = positionOf(tail);
    if (tick.hasTold(tail.topic, position) || (yield* tellNewest(context, group, tick, tail)))
      told.set(tail.topic, position);
  }
  yield* whenDelivered(context, function* () {
    yield* waitFor(tick.done(told));
    const tails = yield* tailsOf(context, group);
    if (tails.every((tail) => told.get(tail.topic) === positionOf(tail))) return;
    yield* waitFor(conflated?.arm(group, Math.max(0, nextAtMs - clock.now())));
  });
}

/** The newest position of each topic of the group. */
function* tailsOf(
  { ports: { streams, clock, log } }: Context,
  { tenant, topicFilter }: ConflatedGroup,
): Flow<readonly StreamTopicTail[]> {
  const stream = streams?.declared.coveringFilter(topicFilter);
  if (streams === undefined || stream === undefined) return [];
  const tails = yield* waitFor(
    streams.store.topics(tenant, stream, topicFilter, TICK_TOPICS_MAX, clock.now()),
  );
  if (tails !== 'too-many') return tails;
  log.error('conflated-topics-exceeded', { topicFilter, maximum: TICK_TOPICS_MAX });
  return [];
}

function positionOf({ epoch, last }: StreamTopicTail): string {
  return formatPosition({ epoch, number: last });
}

/** False where the workers are too far behind. */
function* tellNewest(
  context: Context,
  { tenant }: ConflatedGroup,
  { storedFilter: topicFilter, shards, isBehind }: ConflatedTick,
  { topic, epoch, last }: StreamTopicTail,
): Flow<boolean> {
  const { streams, clock } = context.ports;
  if (streams === undefined || last === 0) return true;
  const limit = { messages: 1, bytes: Number.POSITIVE_INFINITY };
  const page = yield* waitFor(streams.store.read(tenant, topic, epoch, last - 1, limit));
  const [entry] = page === 'lost' ? [] : page;
  // It is handed out no more, or its epoch has ended since: then another message arms another tick.
  if (entry === undefined || isExpired(entry.message, clock.now())) return true;
  return yield* waitFor(
    fanOutOf(context).accept(placedMessage(entry), [{ tenant, topicFilter, shards, isBehind }]),
  );
}
