import type { ConnectPacket } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Identity, Publisher } from '../model/identity.ts';
import { type Connection, type Link, namesOf } from '../model/link.ts';
import { isSameHolder } from '../model/quota-holder.ts';
import type { FilterName } from '../model/session.ts';
import { subscriptionWeight } from '../model/subscription-weight.ts';
import type { ExceededHolding, Reservation } from '../ports/index.ts';

/** The quota, limit or memory that has no room for a CONNECT. Each may have room again later. */
export interface NoRoom {
  readonly of: ExceededHolding['of'] | 'memory';
  readonly scope: ExceededHolding['scope'] | 'broker';
}

/**
 * Opens the session of a client, if the broker's limits and the quotas of its identity and tenant have room for it.
 */
export function* openWithin<T>(
  context: Context,
  { clientId, will }: Pick<ConnectPacket, 'clientId' | 'will'>,
  identity: Identity,
  open: (reservation?: Reservation) => Flow<T>,
): Flow<T | NoRoom> {
  const full = yield* fullBroker(context, identity.tenant, clientId, will !== undefined);
  if (full !== undefined) return full;
  const { holdingQuota } = context.ports;
  if (holdingQuota === undefined) return yield* open();
  const client = { identity, clientId };
  const reserved = yield* waitFor(holdingQuota.reserve(client));
  if (reserved === undefined) return yield* open();
  if ('scope' in reserved) return (yield* takesPlace(context, client, reserved)) ? yield* open() : reserved;
  try {
    return yield* open(reserved);
  } finally {
    reserved.release();
  }
}

/** The limit or the memory that has no room for a new session. An existing session may always be resumed. */
function* fullBroker(
  { ports: { sessions, memory }, limits: { sessionsMax } }: Context,
  tenant: string,
  clientId: string,
  hasWill: boolean,
): Flow<NoRoom | undefined> {
  if (hasWill && memory?.isReserveUsed === true) return { of: 'memory', scope: 'broker' };
  const isFull = memory?.isFull === true;
  if (!isFull && (yield* waitFor(sessions.count())) < sessionsMax) return undefined;
  if ((yield* waitFor(sessions.get(tenant, clientId))) !== undefined) return undefined;
  return { of: isFull ? 'memory' : 'sessions', scope: 'broker' };
}

/** Whether the client needs no room: it replaces a connection, or resumes a session, of the same identity. */
function* takesPlace(
  { ports: { sessions } }: Context,
  { identity, clientId }: Publisher,
  exceeded: ExceededHolding,
): Flow<boolean> {
  const standing = yield* waitFor(sessions.get(identity.tenant, clientId));
  if (standing === undefined) return false;
  if (exceeded.scope === 'identity' && !isSameHolder(standing.identity, identity, clientId)) return false;
  return exceeded.of === 'sessions' || standing.detachedAtMs === undefined;
}

/** Closes without CONNACK: a client (mqtt.js above all) does not come back by itself after a CONNACK that refuses. */
export function turnAway(
  { ports: { log } }: Context,
  link: Link,
  { packet: { clientId }, identity }: { readonly packet: ConnectPacket; readonly identity: Identity },
  { of, scope }: NoRoom,
): void {
  const { tenant, name } = identity;
  log.warn('holding-quota-exceeded', { ...namesOf(link), tenant, name, clientId, of, scope });
  link.state = { phase: 'closed' };
  link.close('server', of === 'memory' ? 'no memory for more' : `too many ${of} of this ${scope}`);
}

/** How many subscriptions, by weight, the session may hold once it has the given ones. */
export function* subscriptionsMax(
  { ports: { holdingQuota }, limits: { subscriptionsPerSessionMax } }: Context,
  { identity, session }: Connection,
  subscriptions: readonly FilterName[],
): Flow<number> {
  if (holdingQuota === undefined) return subscriptionsPerSessionMax;
  const client = { identity, clientId: session.clientId };
  const weight = subscriptions.reduce((sum, name) => sum + subscriptionWeight(name), 0);
  const reservation = yield* waitFor(holdingQuota.reserveSubscriptions?.(client, weight));
  reservation?.release();
  return holdingQuota.subscriptionsMax(client, session, subscriptionsPerSessionMax);
}
