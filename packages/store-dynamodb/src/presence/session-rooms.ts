import type { ConnectionId, PresencePlace, SessionRef } from '@apus/broker';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { sessionItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';
import { type Item, text, textOf } from '../table/values.ts';

/*
 * The rooms of a client's sessions stand in its session item: `rm`, a set of incarnation, room and member. A place is
 * added in the transaction that makes the member present, and only while the session has its connection, so that each
 * end of a connection finds all of its places. It is taken out when watchers have been told that the session has left.
 * Until then the item stays, also when its session has ended or another incarnation stands there.
 * `rl`: the connection that a session was lost with which is leaving its rooms. It is not resumed without a CONNECT.
 */

const PART = '\0';

/** Whether the incarnation may make members present. */
export function hasRooms(item: Item, incarnation: string): boolean {
  return placesIn(item).some((each) => each.startsWith(incarnation + PART));
}

/** All incarnations in the item that may make members present. */
export function incarnationsWithRooms(item: Item): readonly string[] {
  return [...new Set(placesIn(item).map((each) => each.slice(0, each.indexOf(PART))))];
}

export async function placesOf(table: Table, session: SessionRef): Promise<readonly PresencePlace[]> {
  const { tenant, clientId, incarnation } = session;
  const item = await table.get(sessionItemKey(tenant, clientId));
  const own = item === undefined ? [] : placesIn(item).filter((each) => each.startsWith(incarnation + PART));
  return own.map((each) => {
    const [, room = '', member = ''] = each.split(PART);
    return { tenant, room, member };
  });
}

/** The session has its connection, and a place more. */
export function addition(place: PresencePlace, session: SessionRef, placesMax: number): Action {
  const isThisIncarnation = 'i = :incarnation';
  const isConnected = 'attribute_exists(c)';
  const hasRoom = '(attribute_not_exists(rm) OR size(rm) < :max OR contains(rm, :place))';
  return {
    key: sessionItemKey(session.tenant, session.clientId),
    update: 'ADD rm :places',
    condition: `${isThisIncarnation} AND ${isConnected} AND ${hasRoom}`,
    values: {
      ':incarnation': text(session.incarnation),
      ':max': { N: String(placesMax) },
      ':place': text(entryOf(place, session)),
      ':places': setOf(place, session),
    },
  };
}

/** Why a place was not added: the item as it stood then. */
export function whyNotAdded(
  item: Item | undefined,
  { incarnation }: SessionRef,
): 'not-connected' | 'rooms-full' {
  const isConnected = textOf(item, 'i') === incarnation && item?.c !== undefined;
  return isConnected ? 'rooms-full' : 'not-connected';
}

export async function takeOut(table: Table, place: PresencePlace, session: SessionRef): Promise<void> {
  await table.update(sessionItemKey(session.tenant, session.clientId), 'DELETE rm :places', {
    condition: 'attribute_exists(rm)',
    values: { ':places': setOf(place, session) },
  });
}

/**
 * The session is leaving its rooms, unless its client is back:
 *
 *     timer of the loss                  client
 *     reads: it has no connection
 *                                        resumes the session: it is where it was
 *     claim: fails, it has a connection. It stays in its rooms
 *
 * The other way round its client connects anew, and its program publishes to the rooms again.
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
  // An incarnation that has ended has no connection any more.
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
