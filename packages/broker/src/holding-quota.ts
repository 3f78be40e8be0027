import type { ConnectPacket } from '@apus/mqtt';
import type { Context } from './context.ts';
import { type Flow, waitFor } from './flow.ts';
import { type Connection, type Link, namesOf } from './link.ts';
import type { ExceededHolding, Identity, SessionRecord } from './ports/index.ts';
import { isSameHolder } from './quota-holder.ts';

/** The quota, the limit or the memory that has no room for a CONNECT. All of them pass. */
export interface NoRoom {
  readonly of: ExceededHolding['of'] | 'memory';
  readonly scope: ExceededHolding['scope'] | 'broker';
}

/** The limits of the broker, then the quotas of the identity and of its tenant. */
export function* noRoomFor(
  context: Context,
  { clientId, will }: Pick<ConnectPacket, 'clientId' | 'will'>,
  identity: Identity,
): Flow<NoRoom | undefined> {
  const full = yield* fullBroker(context, identity.tenant, clientId, will !== undefined);
  return full ?? (yield* exceededHolding(context, identity, clientId));
}

/** A session more than the limit, or than there is memory for, is turned away; one that is there may always be resumed. */
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

/**
 * The quota of a client's identity, or of its tenant, that has no room for this CONNECT. One that takes the place of a connection,
 * or comes back to a session, of the same identity needs none.
 */
function* exceededHolding(
  { ports: { holdingQuota, sessions } }: Context,
  identity: Identity,
  clientId: string,
): Flow<ExceededHolding | undefined> {
  if (holdingQuota === undefined) return undefined;
  const exceeded = yield* waitFor(holdingQuota.exceededBy({ identity, clientId }));
  if (exceeded === undefined) return undefined;
  const standing = yield* waitFor(sessions.get(identity.tenant, clientId));
  return takesPlace(exceeded, identity, clientId, standing) ? undefined : exceeded;
}

function takesPlace(
  exceeded: ExceededHolding,
  identity: Identity,
  clientId: string,
  standing: SessionRecord | undefined,
): boolean {
  if (standing === undefined) return false;
  if (exceeded.scope === 'identity' && !isSameHolder(standing.identity, identity, clientId)) return false;
  return exceeded.of === 'sessions' || standing.detachedAtMs === undefined;
}

/** Closes without CONNACK: after one that refuses, a client (mqtt.js above all) does not come back by itself. */
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

/** As many subscriptions, by weight, as the session may hold now. */
export function subscriptionsMax(
  { ports: { holdingQuota }, limits: { subscriptionsPerSessionMax } }: Context,
  { identity, session }: Connection,
): number {
  if (holdingQuota === undefined) return subscriptionsPerSessionMax;
  const client = { identity, clientId: session.clientId };
  return holdingQuota.subscriptionsMax(client, session, subscriptionsPerSessionMax);
}
