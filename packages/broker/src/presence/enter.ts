import type { Context } from '../context.ts';
import type { AcceptOutcome } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { type Connection, type Link, namesOfSession } from '../model/link.ts';
import type { Message } from '../model/message.ts';
import { quotaHolderOf } from '../model/quota-holder.ts';
import type { Presence, PresenceChange, PresenceLimits, PresencePlace } from '../ports/index.ts';
import { leaveRoom } from './leave-rooms.ts';
import { parsePresence } from './names.ts';
import { noteChange, tickMs, watchersOf } from './tell.ts';

/**
 * A client publishes to `$presence/ROOM/MEMBER`: the member is present with this message while the client's session is
 * connected. An empty payload makes it leave. The caller has checked the topic, and that the client may publish to it.
 */
export function* enter(
  context: Context,
  link: Link,
  connection: Connection,
  asked: Message,
  isRepetition: boolean,
): Flow<AcceptOutcome> {
  const { presence } = context.ports;
  const place = placeOf(connection, asked.topic);
  if (presence === undefined || place === undefined) throw new Error('not checked: no member of a room');
  const { tenant, room } = place;
  // RETAIN makes no difference, and the message of a member does not expire.
  const message = { ...asked, retain: false, expiresAtMs: undefined };
  if (!(yield* mayTell(context, connection, tenant, room))) return 'deliveries-exceeded';
  if (!(yield* isConnected(context, connection))) return 'no-matching-subscribers';
  const changed =
    message.payload.length === 0
      ? yield* leaveRoom(context, presence, connection.session, place, link.id)
      : yield* put(context, presence, { link, connection, place, message, isRepetition });
  if (typeof changed === 'string') return changed;
  if (changed.written !== undefined) yield* waitFor(changed.written);
  return 'delivered';
}

/** The message with which a client makes a member present. */
interface Entering {
  readonly link: Link;
  readonly connection: Connection;
  readonly place: PresencePlace;
  readonly message: Message;
  readonly isRepetition: boolean;
}

/** Makes the member present, and tells watchers if something has changed. */
function* put(
  context: Context,
  presence: Presence,
  entering: Entering,
): Flow<PresenceChange | AcceptOutcome> {
  const { link, connection, place } = entering;
  const isFirst = connection.isPresent !== true;
  // Before the member is present: `begins` looks for its end.
  if (isFirst && presence.begins !== undefined) yield* waitFor(presence.begins(connection.session));
  const changed = yield* change(context, presence, entering);
  if (typeof changed === 'string') return changed;
  noteMember(link);
  if (changed.change === 'joined' || changed.change === 'changed')
    yield* noteChange(context, presence, place, changed);
  return changed;
}

/** Notes that the client is in rooms: a resumed client whose members have left has to connect anew. */
function noteMember(link: Link): void {
  const { state } = link;
  if (state.phase !== 'connected' || state.connection.isPresent === true) return;
  link.state = { ...state, connection: { ...state.connection, isPresent: true } };
}

function placeOf({ identity: { tenant } }: Connection, topic: string): PresencePlace | undefined {
  const named = parsePresence(topic);
  return named && { tenant, ...named };
}

/**
 * Whether the client may cause these deliveries. They are charged to it if they leave at once; a tick limits its own.
 */
function* mayTell(
  context: Context,
  { identity, session }: Connection,
  tenant: string,
  room: string,
): Flow<boolean> {
  const { deliveryQuota, presence } = context.ports;
  if (deliveryQuota === undefined || presence === undefined) return true;
  if (yield* waitFor(presence.ticks.isArmed(tenant, room))) return true;
  const watchers = yield* watchersOf(context, tenant, room);
  if (watchers === 0 || tickMs(watchers) !== undefined) return true;
  return yield* waitFor(deliveryQuota.take({ identity, clientId: session.clientId }, watchers, []));
}

/**
 * Whether the session is still connected: asking for the rules may have taken longer. From here to the change there is
 * no other turn, or the member would stay for ever.
 */
function* isConnected({ ports }: Context, { session }: Connection): Flow<boolean> {
  const record = yield* waitFor(ports.sessions.get(session.tenant, session.clientId));
  return record?.attachment !== undefined && record.session.incarnation === session.incarnation;
}

function* change(
  { limits, ports }: Context,
  { store }: Presence,
  { connection, place, message, isRepetition }: Entering,
): Flow<PresenceChange | AcceptOutcome> {
  const { identity, session } = connection;
  const owner = { session, holder: quotaHolderOf(identity, session.clientId), isRepetition };
  const presenceLimits: PresenceLimits = {
    membersMax: limits.presenceMembersMax,
    ownersMax: limits.presenceOwnersMax,
    roomsPerSessionMax: limits.presenceRoomsPerSessionMax,
    roomsPerIdentityMax: limits.presenceRoomsPerIdentityMax,
  };
  const changed = yield* waitFor(store.put(place, owner, message, presenceLimits, ports.clock.now()));
  if (changed === 'not-connected') return 'no-matching-subscribers';
  if (typeof changed !== 'string') return changed;
  const { room } = place;
  ports.log.warn('presence-refused', {
    ...namesOfSession(session),
    name: identity.name,
    room,
    why: changed,
  });
  return `presence-${changed}` as const;
}
