import type { Context } from '../context.ts';
import { lookWhenDelivered, whenDelivered } from '../deliver/deliver.ts';
import { sendToAll, wideFilters } from '../deliver/wide.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { Presence, PresenceChange, PresencePlace, PresenceStore, ToldMember } from '../ports/index.ts';
import { underWay } from '../publish/under-way.ts';
import { occupancyTopic, presenceTopic } from './names.ts';

/** A room with more watchers is told its changes at ticks, so that the cost of a join does not grow with them. */
export const WATCHERS_AT_ONCE_MAX = 100;

/** How long the changes of a room are gathered, by its number of watchers. */
const TICKS = [
  { above: 10_000, ms: 30_000 },
  { above: 1_000, ms: 5_000 },
  { above: WATCHERS_AT_ONCE_MAX, ms: 1_000 },
] as const;

/** Deliveries in one turn of a tick. The rest follows in later turns, so that other work is done in between. */
const DELIVERIES_PER_TURN = 20_000;

/** The pause between two turns: about as long as a turn takes. */
const TURN_PAUSE_MS = 100;

/** If members have to be counted, watchers are told their number so long after a change. */
const NUMBER_TICK_MS = 1_000;

/** A process that leaves a room for a client has told the watchers within this time, or has died. */
const LEAVE_TOLD_MS = 30_000;

/** How often a process tells watchers again because others have changed the member meanwhile. */
const RETELLS_MAX = 4;

const NOTHING = new Uint8Array();

/** The number of subscriptions that are told of changes of the room. */
export function* watchersOf(context: Context, tenant: string, room: string): Flow<number> {
  // No member has an empty name, so subscriptions to single members are not counted.
  return (
    (yield* countOf(context, tenant, presenceTopic(room, ''))) +
    (yield* countOf(context, tenant, occupancyTopic(room)))
  );
}

function* countOf(
  { ports: { presence, subscriptions } }: Context,
  tenant: string,
  topic: string,
): Flow<number> {
  const matched = yield* waitFor(subscriptions.match(tenant, topic));
  const here = matched.reduce(
    (sum, { shareGroup, subscribers }) => sum + (shareGroup ? 1 : subscribers.length),
    0,
  );
  let inShards = 0;
  if (presence?.audienceOf !== undefined)
    for (const filter of wideFilters(tenant, matched))
      inShards += yield* waitFor(presence.audienceOf(filter, topic));
  return here + inShards;
}

/** Undefined: at once. */
export function tickMs(watchers: number): number | undefined {
  return TICKS.find(({ above }) => watchers > above)?.ms;
}

/** The room has changed: its watchers are told now, or at its next tick. */
export function* noteChange(
  context: Context,
  presence: Presence,
  place: PresencePlace,
  { change, told, mayBeOvertaken = false }: PresenceChange,
): Flow<void> {
  const { tenant, room } = place;
  if (told !== undefined) {
    yield* tellOrNote(context, presence, place, told, change !== 'changed');
    if (mayBeOvertaken) yield* tellOnceMore(presence, place, told.topic);
    return;
  }
  if (presence.hand !== undefined) return yield* underWay(waitFor(presence.hand(tenant, room)));
  yield* roomChanged(context, tenant, room);
}

/** This process tells the watchers of the room: now, or at its next tick. */
export function* roomChanged(context: Context, tenant: string, room: string): Flow<void> {
  const { presence } = context.ports;
  if (presence === undefined || (yield* waitFor(presence.ticks.isArmed(tenant, room)))) return;
  const watchers = yield* watchersOf(context, tenant, room);
  const delayMs = tickMs(watchers);
  if (delayMs === undefined) yield* tell(context, presence, tenant, room, watchers);
  else yield* waitFor(presence.ticks.arm(tenant, room, delayMs));
}

/**
 * For a store that keeps no told state. In a small room the process that has changed the room tells its watchers. In a
 * large one it notes the change, and then looks whether a tick is armed; a tick stops being armed before it reads the
 * notes. The number of members is told at a tick in any case, as it has to be counted.
 */
function* tellOrNote(
  context: Context,
  { store, ticks }: Presence,
  place: PresencePlace,
  told: ToldMember,
  isCounted: boolean,
): Flow<void> {
  const { subscriptions } = context.ports;
  const { tenant, room } = place;
  const watchers = yield* watchersOf(context, tenant, room);
  const delayMs = tickMs(watchers);
  const isTold = delayMs === undefined && (yield* underWay(sendMember(context, tenant, told)));
  if (isTold)
    yield* lookWhenDelivered(context, () => tellAgain(context, store, place, told.message, RETELLS_MAX));
  else yield* underWay(waitFor(store.note?.(place, told)));
  const hasNumber =
    isCounted && (yield* waitFor(subscriptions.match(tenant, occupancyTopic(room)))).length > 0;
  if (isTold && !hasNumber) return;
  yield* underWay(waitFor(ticks.arm(tenant, room, delayMs ?? NUMBER_TICK_MS)));
}

/**
 * If two processes change a member at the same time, the first to change it may be the last to tell. So each looks
 * again after it has told watchers, and tells the present state:
 *
 *     timer of a loss                    client that is back
 *     the member is gone
 *                                        publishes: the member is there; watchers are told so
 *     watchers are told that it is gone
 *     looks: it is there; watchers are told so once more
 */
function* tellAgain(
  context: Context,
  store: PresenceStore,
  place: PresencePlace,
  told: Message | undefined,
  left: number,
): Flow<void> {
  if (store.look === undefined || left === 0) return;
  const message = yield* waitFor(store.look(place));
  if (message?.id === told?.id) return;
  const topic = presenceTopic(place.room, place.member);
  yield* sendMember(context, place.tenant, { topic, message, before: told });
  yield* lookWhenDelivered(context, () => tellAgain(context, store, place, message, left - 1));
}

/**
 * A client that keeps its session is back in a room that another handler is still leaving for it:
 *
 *     handler of DISCONNECT              client
 *     the member is gone
 *                                        publishes: the member is there; watchers are told so
 *     watchers are told that it is gone
 *     dies before it looks again
 *                                        the tick: watchers are told once more that the member is there
 */
function* tellOnceMore({ store, ticks }: Presence, place: PresencePlace, topic: string): Flow<void> {
  const told = { topic, message: undefined, before: undefined };
  yield* underWay(waitFor(store.note?.(place, told)));
  yield* underWay(waitFor(ticks.arm(place.tenant, place.room, LEAVE_TOLD_MS)));
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
  const countMax = ticks.membersMax ?? Math.max(1, Math.floor(DELIVERIES_PER_TURN / Math.max(1, watchers)));
  const occupancyOf = (members: number) => messageFor(context, occupancyTopic(room), String(members));
  const untold = yield* waitFor(store.takeUntold(tenant, room, countMax, occupancyOf));
  if (untold.hasMore) yield* waitFor(ticks.arm(tenant, room, TURN_PAUSE_MS));
  let areAllTold = true;
  for (const member of untold.members)
    areAllTold = (yield* underWay(sendMember(context, tenant, member))) && areAllTold;
  const { markTold, occupancy = yield* countedOccupancy(context, store, tenant, room) } = untold;
  if (occupancy !== undefined) yield* underWay(send(context, tenant, occupancy));
  if (markTold === undefined) return;
  if (areAllTold) yield* whenDelivered(context, () => waitFor(markTold()));
  else yield* waitFor(ticks.arm(tenant, room, tickMs(watchers) ?? NUMBER_TICK_MS));
}

/** Counts the members of a room, if a client watches their number. */
function* countedOccupancy(
  context: Context,
  store: PresenceStore,
  tenant: string,
  room: string,
): Flow<Message | undefined> {
  const topic = occupancyTopic(room);
  if (store.count === undefined) return undefined;
  if ((yield* waitFor(context.ports.subscriptions.match(tenant, topic))).length === 0) return undefined;
  return messageFor(context, topic, String(yield* waitFor(store.count(tenant, room))));
}

function sendMember(context: Context, tenant: string, member: ToldMember): Flow<boolean> {
  return send(context, tenant, member.message ?? leaveOf(context, member));
}

/** False: some watchers stand in shards whose workers are too far behind. */
function* send(context: Context, tenant: string, message: Message): Flow<boolean> {
  const matched = yield* waitFor(context.ports.subscriptions.match(tenant, message.topic));
  return matched.length === 0 || (yield* sendToAll(context, tenant, message, matched));
}

/**
 * The empty message of a leave. Its QoS is that of the message that told of the member. That is not known where a
 * process has removed the member and died: at QoS 1 watchers that are away are told as well.
 */
function leaveOf(context: Context, { topic, before }: ToldMember): Message {
  return { ...messageFor(context, topic, ''), qos: before?.qos ?? 1, publisherKey: before?.publisherKey };
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
