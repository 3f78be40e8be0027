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

/** After which a tick tries again that has met another one, or workers that are far behind. */
const AGAIN_MS = 1_000;

/**
 * A message has its place, and then its subscribers were looked up: the groups among them are told at the end of their
 * interval.
 *
 *     publisher                          tick
 *     appends 5
 *                                        no tick is armed from now on
 *     finds none armed: arms one
 *                                        looks for the newest: 5, which the next tick finds told
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
export function* tellConflated(context: Context, group: ConflatedGroup): Flow<void> {
  const { streams, conflated, clock, log } = context.ports;
  const stream = streams?.declared.coveringFilter(group.topicFilter);
  if (streams === undefined || conflated === undefined || stream === undefined) return;
  const tick = yield* waitFor(conflated.begin(group));
  if (tick === 'over') return;
  if (tick === 'busy') return yield* waitFor(conflated.arm(group, AGAIN_MS));
  const { tenant, topicFilter } = group;
  const tails = yield* waitFor(
    streams.store.topics(tenant, stream, topicFilter, TICK_TOPICS_MAX, clock.now()),
  );
  if (tails === 'too-many') log.error('conflated-topics-exceeded', { topicFilter, maximum: TICK_TOPICS_MAX });
  const told = new Map<string, string>();
  let areAllTold = true;
  for (const tail of tails === 'too-many' ? [] : tails) {
    const position = formatPosition({ epoch: tail.epoch, number: tail.last });
    if (tick.hasTold(tail.topic, position) || (yield* tellNewest(context, group, tick, tail)))
      told.set(tail.topic, position);
    else areAllTold = false;
  }
  if (!areAllTold) yield* waitFor(conflated.arm(group, AGAIN_MS));
  yield* whenDelivered(context, () => waitFor(tick.done(told)));
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
