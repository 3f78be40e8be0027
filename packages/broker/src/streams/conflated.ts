import type { Context } from '../context.ts';
import { whenDelivered } from '../deliver/deliver.ts';
import { fanOutOf } from '../deliver/wide.ts';
import { steadyNow } from '../model/clock.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { isExpired } from '../model/message.ts';
import type { MatchedFilter } from '../model/session.ts';
import type { ConflatedGroup, ConflatedTick, StreamTopicTail } from '../ports/index.ts';
import { formatPosition, placedMessage } from './position.ts';
import { TOPICS_AT_ONCE_MAX } from './read-at-once.ts';

/** Topics that a tick looks at. A group begins with at most `TOPICS_AT_ONCE_MAX`; more may be added. */
const TICK_TOPICS_MAX = 10 * TOPICS_AT_ONCE_MAX;

/**
 * Arms the ticks of conflated groups for a message that has its place, once its subscribers have been looked up. A
 * group has one tick at a time, which is armed, or at work. Before it ends, a tick makes room for the next one, and
 * looks once more:
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
  const nextAtMs = steadyNow(clock) + group.intervalMs;
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
    yield* waitFor(conflated?.arm(group, Math.max(0, nextAtMs - steadyNow(clock))));
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

/** False: the workers are too far behind. */
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
  // The message is not kept any more, or its epoch has ended: another message arms another tick.
  if (entry === undefined || isExpired(entry.message, clock.now())) return true;
  return yield* waitFor(
    fanOutOf(context).accept(placedMessage(entry), [{ tenant, topicFilter, shards, isBehind }]),
  );
}
