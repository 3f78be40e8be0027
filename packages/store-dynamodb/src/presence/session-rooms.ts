import type { ConnectionId, PresencePlace, SessionRef } from '@apus/broker';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { DECISIONS_MAX } from '../limits.ts';
import { ContentionError } from '../table/errors.ts';
import { sessionItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, text, textOf } from '../table/values.ts';

/*
 * The rooms of a client's sessions, in its session item: `rm`, a set of incarnation, room and member. A place is added
 * in the transaction that makes the member present, and only while the session has its connection, so the end of each
 * connection finds all its places. A place is removed when watchers have been told that the session has left, unless
 * the session makes the member present again. Until then the item stays, even if its session has ended or another
 * incarnation has replaced it. `rn`: the nonce of the last addition. `rl`: the lost connection whose session is
 * leaving its rooms; it is not resumed without a CONNECT.
 */

const PART = '\0';

interface Addition {
  readonly connectionId: ConnectionId;
  readonly nonce: string;
  readonly placesMax: number;
  /** The place is there, since a leave has not been finished. */
  readonly hasPlace: boolean;
}

/** All incarnations in the item that may make members present. */
export function incarnationsWithRooms(item: Item): readonly string[] {
  return [...new Set(placesIn(item).map((each) => each.slice(0, each.indexOf(PART))))];
}

export async function placesOf(table: Table, session: SessionRef): Promise<readonly PresencePlace[]> {
  const { tenant, clientId, incarnation } = session;
  const item = await table.get(sessionItemKey(tenant, clientId));
  return item === undefined ? [] : placesOfItem(item, tenant, incarnation);
}

/** The members that the incarnation may make present. */
export function placesOfItem(item: Item, tenant: string, incarnation: string): readonly PresencePlace[] {
  const own = placesIn(item).filter((each) => each.startsWith(incarnation + PART));
  return own.map((each) => {
    const [, room = '', member = ''] = each.split(PART);
    return { tenant, room, member };
  });
}

/** Adds a place, or keeps it, on condition that the session has this connection. */
export function addition(
  place: PresencePlace,
  session: SessionRef,
  { connectionId, nonce, placesMax, hasPlace }: Addition,
): Action {
  const isThisIncarnation = 'i = :incarnation';
  const isConnected = 'c = :connection';
  const hasRoom = hasPlace
    ? 'contains(rm, :place)'
    : '(attribute_not_exists(rm) OR (size(rm) < :max AND NOT contains(rm, :place)))';
  return {
    key: sessionItemKey(session.tenant, session.clientId),
    update: 'SET rn = :nonce ADD rm :places',
    condition: `${isThisIncarnation} AND ${isConnected} AND ${hasRoom}`,
    values: {
      ':incarnation': text(session.incarnation),
      ':connection': text(connectionId),
      ':nonce': text(nonce),
      ...(!hasPlace && { ':max': { N: String(placesMax) } }),
      ':place': text(entryOf(place, session)),
      ':places': setOf(place, session),
    },
  };
}

/**
 * Why a place was not added, by the item as it stood. 'other': the place has been added or removed since it was read.
 */
export function whyNotAdded(
  item: Item | undefined,
  place: PresencePlace,
  session: SessionRef,
  { connectionId, hasPlace }: Addition,
): 'not-connected' | 'rooms-full' | 'other' {
  const isConnected = textOf(item, 'i') === session.incarnation && textOf(item, 'c') === connectionId;
  if (item === undefined || !isConnected) return 'not-connected';
  return placesIn(item).includes(entryOf(place, session)) === hasPlace ? 'rooms-full' : 'other';
}

/** Whether this connection of the session is the latest. */
export async function isLatest(
  table: Table,
  { tenant, clientId, incarnation }: SessionRef,
  connectionId: ConnectionId,
): Promise<boolean> {
  const item = await table.get(sessionItemKey(tenant, clientId));
  return textOf(item, 'i') !== incarnation || textOf(item, 'l') === connectionId;
}

/** Whether the session has this connection. */
export async function isConnectedBy(
  table: Table,
  { tenant, clientId, incarnation }: SessionRef,
  connectionId: ConnectionId,
): Promise<boolean> {
  const item = await table.get(sessionItemKey(tenant, clientId));
  return textOf(item, 'i') === incarnation && textOf(item, 'c') === connectionId;
}

/**
 * Removes the place, unless the session makes the member present again:
 *
 *     handler of a leave                 client
 *     the member is gone
 *                                        publishes: the member is there, and the place is added
 *     (were the place taken out …)
 *     (… no end of a connection would find the member)
 *     the member is there: the place stays
 */
export async function takeOut(
  table: Table,
  place: PresencePlace,
  session: SessionRef,
  isPresent: () => Promise<boolean>,
): Promise<void> {
  const key = sessionItemKey(session.tenant, session.clientId);
  for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
    const item = await table.get(key);
    if (item === undefined || !placesIn(item).includes(entryOf(place, session))) return;
    if (await isPresent()) return;
    const { rn } = item;
    const { ok } = await table.update(key, 'DELETE rm :places', {
      condition: rn === undefined ? 'attribute_exists(rm) AND attribute_not_exists(rn)' : 'rn = :nonce',
      values: { ':places': setOf(place, session), ...(rn !== undefined && { ':nonce': rn }) },
    });
    if (ok) return;
  }
  throw new ContentionError('the rooms of a session', DECISIONS_MAX);
}

/**
 * Claims that the session leaves its rooms, unless its client is back:
 *
 *     timer of the loss                  client
 *     reads: it has no connection
 *                                        resumes the session: it is where it was
 *     claim: fails, it has a connection. It stays in its rooms
 *
 * In the other order the client connects anew, and its program publishes to the rooms again.
 */
export async function claimLeave(
  table: Table,
  { tenant, clientId, incarnation }: SessionRef,
  connectionId: ConnectionId,
): Promise<boolean> {
  const isThisIncarnation = 'i = :incarnation';
  const isOffline = 'attribute_not_exists(c)';
  const isLast = 'l = :connection';
  const { ok, old } = await table.update(sessionItemKey(tenant, clientId), 'SET rl = :connection', {
    condition: `${isThisIncarnation} AND ${isOffline} AND ${isLast}`,
    values: { ':incarnation': text(incarnation), ':connection': text(connectionId) },
  });
  // An incarnation that has ended has no connection.
  return ok || textOf(old, 'i') !== incarnation;
}

function placesIn(item: Item): readonly string[] {
  return item.rm?.SS ?? [];
}

function entryOf({ room, member }: PresencePlace, { incarnation }: SessionRef): string {
  return [incarnation, room, member].join(PART);
}

function setOf(place: PresencePlace, session: SessionRef): AttributeValue {
  return { SS: [entryOf(place, session)] };
}
