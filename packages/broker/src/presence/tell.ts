import type { Context } from '../context.ts';
import { deliver } from '../deliver.ts';
import { type Flow, waitFor } from '../flow.ts';
import type { Message } from '../message.ts';
import type { MatchedFilter, Presence, ToldMember } from '../ports/index.ts';
import { route } from '../route.ts';
import { underWay } from '../under-way.ts';
import { occupancyTopic, presenceTopic } from './names.ts';

/** A room with more watchers is told its changes in ticks: what a join costs does not grow with them. */
export const WATCHERS_AT_ONCE_MAX = 100;

/** How long the changes of a room gather, by how many watch it. */
const TICKS = [
  { above: 10_000, ms: 30_000 },
  { above: 1_000, ms: 5_000 },
  { above: WATCHERS_AT_ONCE_MAX, ms: 1_000 },
] as const;

/** Deliveries of one turn of a tick; the rest waits for the next turn, and others are served between. */
const DELIVERIES_PER_TURN = 20_000;

/** Pause between two turns: as long as a turn takes, more or less. */
const TURN_PAUSE_MS = 100;

const NOTHING = new Uint8Array();

/** The number of subscriptions that are told of changes of the room. */
export function* watchersOf(
  { ports: { subscriptions } }: Context,
  tenant: string,
  room: string,
): Flow<number> {
  // No member has an empty name: subscriptions to single members are not counted.
  const members = yield* waitFor(subscriptions.match(tenant, presenceTopic(room, '')));
  const numbers = yield* waitFor(subscriptions.match(tenant, occupancyTopic(room)));
  return countOf(members) + countOf(numbers);
}

function countOf(matched: readonly MatchedFilter[]): number {
  return matched.reduce((sum, { shareGroup, subscribers }) => sum + (shareGroup ? 1 : subscribers.length), 0);
}

/** Undefined: at once. */
export function tickMs(watchers: number): number | undefined {
  return TICKS.find(({ above }) => watchers > above)?.ms;
}

/** The room has changed: its watchers are told now, or at its next tick. */
export function* noteChange(context: Context, presence: Presence, tenant: string, room: string): Flow<void> {
  const { ticks } = presence;
  if (ticks.isArmed(tenant, room)) return;
  const watchers = yield* watchersOf(context, tenant, room);
  const delayMs = tickMs(watchers);
  if (delayMs === undefined) yield* tell(context, presence, tenant, room, watchers);
  else ticks.arm(tenant, room, delayMs);
}

/** The tick of a room. */
export function* tellRoom(context: Context, tenant: string, room: string): Flow<void> {
  const { presence } = context.ports;
  if (presence === undefined) return;
  yield* tell(context, presence, tenant, room, yield* watchersOf(context, tenant, room));
}

function* tell(
  context: Context,
  { store, ticks }: Presence,
  tenant: string,
  room: string,
  watchers: number,
): Flow<void> {
  const countMax = Math.max(1, Math.floor(DELIVERIES_PER_TURN / Math.max(1, watchers)));
  const occupancyOf = (members: number) => messageFor(context, occupancyTopic(room), String(members));
  const untold = yield* waitFor(store.takeUntold(tenant, room, countMax, occupancyOf));
  if (untold.hasMore) ticks.arm(tenant, room, TURN_PAUSE_MS);
  for (const member of untold.members)
    yield* underWay(send(context, tenant, member.message ?? leaveOf(context, member)));
  if (untold.occupancy !== undefined) yield* underWay(send(context, tenant, untold.occupancy));
}

function* send(context: Context, tenant: string, message: Message): Flow<void> {
  const matched = yield* waitFor(context.ports.subscriptions.match(tenant, message.topic));
  if (matched.length > 0) yield* deliver(context, message, route(context, message, matched));
}

/** An empty message, as sure to arrive as the one that told of the member. */
function leaveOf(context: Context, { topic, before }: ToldMember): Message {
  return { ...messageFor(context, topic, ''), qos: before?.qos ?? 0, publisherKey: before?.publisherKey };
}

function messageFor({ messageClock }: Context, topic: string, text: string): Message {
  return {
    id: messageClock.next(),
    topic,
    payload: text === '' ? NOTHING : Buffer.from(text),
    qos: 1,
    retain: false,
    properties: {},
    expiresAtMs: undefined,
    publisherKey: undefined,
  };
}
