import { createHash } from 'node:crypto';
import type { ConnectionId, Message, PresencePlace, QuotaHolder, SessionRef } from '@apus/broker';

/** A session of this process that makes a member present. */
export interface OwnPlace extends PresencePlace {
  readonly session: SessionRef;
  readonly holder: QuotaHolder;
  /** The connection that published its data last. */
  connectionId: ConnectionId;
}

/** The data of a place, in the form in which a process leaves it to its heir. */
export type LeftPlace = PresencePlace & {
  readonly holder: QuotaHolder;
  readonly connectionId: ConnectionId;
} & Pick<SessionRef, 'key' | 'clientId' | 'incarnation'>;

export function ownerKey({ key, incarnation }: Pick<SessionRef, 'key' | 'incarnation'>): string {
  return `${key}\0${incarnation}`;
}

export function placeKey({ room, member }: PresencePlace): string {
  return `${room}/${member}`;
}

/** The name of an owner's place among those of a process. */
export function fieldOf({ tenant, room, member }: PresencePlace, owner: string): string {
  return JSON.stringify([tenant, room, member, owner]);
}

export function leftPlaceOf({ tenant, room, member, session, holder, connectionId }: OwnPlace): LeftPlace {
  const { key, clientId, incarnation } = session;
  return { tenant, room, member, key, clientId, incarnation, holder, connectionId };
}

/** Two messages with the same digest look the same to watchers. */
export function digestOf({ payload, properties }: Message): string {
  return createHash('sha1').update(payload).update('\0').update(JSON.stringify(properties)).digest('hex');
}
