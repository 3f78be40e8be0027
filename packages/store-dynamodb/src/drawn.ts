import type { ConnectionId, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { type DrawnEntry, type DrawnList, drawnFields, drawnListOf } from './drawn-list.ts';
import type { FrameCache } from './frame-cache.ts';
import { type Key, OWNED, ownedPartition } from './keys.ts';
import type { Table } from './table.ts';
import type { Action } from './transaction.ts';
import { type Item, number, text, textOf, VERSION } from './values.ts';

/**
 * Messages of QoS 1 stay where they wait when they are drawn. One item says which of them have been sent, on which
 * connection, and under which packet ids; PUBACK deletes the message itself. So drawing a page is one write and not two
 * for each message. Every write replaces the list as it was seen:
 *
 *     drain of an old connection         drain of the new one
 *     reads: a and b wait, the list is empty
 *                                        reads the same
 *     list := a, b on the old one
 *                                        list := a, b on the new one: fails, looks again: sends both again, with DUP
 *
 * Whoever acknowledges reads it and never writes it, so it may name what has been acknowledged: its item is gone. What
 * PUBACK deletes is named by the message, and not by its packet id, which may have been given to another since.
 */
export class Drawn {
  readonly #table: Table;
  readonly #frame: FrameCache;

  constructor(table: Table, frame: FrameCache) {
    this.#table = table;
    this.#frame = frame;
  }

  /** As it is now. */
  async read(session: SessionRef): Promise<DrawnList | undefined> {
    const list = drawnListOf(await this.#table.get(keyOf(session)));
    this.#frame.keepDrawnList(ownedPartition(session), list);
    return list;
  }

  /**
   * The entry of a packet id, read once a frame: what was sent under an id stands in the list before it is sent, and so
   * before its acknowledgement comes. Undefined where it was not sent on this connection, or on any, if none is given.
   */
  async find(
    session: SessionRef,
    connectionId: ConnectionId | undefined,
    packetId: PacketId,
  ): Promise<DrawnEntry | undefined> {
    const known = this.#frame.drawnListOf(ownedPartition(session));
    const list = known === undefined ? await this.read(session) : known.list;
    if (list === undefined || (connectionId !== undefined && list.connectionId !== connectionId))
      return undefined;
    const entries = connectionId === undefined ? [...list.sent, ...list.unsent] : list.sent;
    return entries.find((entry) => entry.packetId === packetId);
  }

  /** False, and nothing written, when it is not as it was seen. */
  async write(
    session: SessionRef,
    seen: DrawnList | undefined,
    next: Omit<DrawnList, 'nonce'>,
  ): Promise<boolean> {
    const list = { ...next, nonce: this.#table.settings.randomId() };
    const { put, condition, values } = this.#replacement(session, seen, list);
    const { ok, old, isRetry } = await this.#table.put(put, { condition, values });
    // The answer to the first attempt was lost.
    const isWritten = ok || (isRetry && textOf(old, 'u') === list.nonce);
    if (isWritten) this.#frame.keepDrawnList(ownedPartition(session), list);
    return isWritten;
  }

  /**
   * All it names has been acknowledged. Nothing happens when it is not as it was seen. It is not deleted, as a drain that
   * began before the first one was written, and writes now, would find nothing again, and take that for what it saw.
   */
  async empty(session: SessionRef, seen: DrawnList): Promise<void> {
    if (!isEmpty(seen)) await this.write(session, seen, EMPTY);
  }

  /** The same list, written anew: a drain that has seen it before has to look again. */
  touch(session: SessionRef, seen: DrawnList | undefined): Action {
    const nonce = this.#table.settings.randomId();
    return this.#replacement(session, seen, { ...(seen ?? EMPTY), nonce });
  }

  /** The same by itself. False, and nothing written, when it is not as it was seen. */
  async renew(session: SessionRef, seen: DrawnList | undefined): Promise<boolean> {
    return await this.write(session, seen, seen ?? EMPTY);
  }

  #replacement(session: SessionRef, seen: DrawnList | undefined, list: DrawnList) {
    const { p, s } = keyOf(session);
    const nowSeconds = this.#table.nowSeconds();
    const put: Item = {
      p: text(p),
      s: text(s),
      v: number(VERSION),
      t: number(nowSeconds + this.#table.settings.queueSecondsMax),
      ...drawnFields(list),
    };
    if (seen !== undefined) return { put, condition: 'u = :seen', values: { ':seen': text(seen.nonce) } };
    const isFirst = 'attribute_not_exists(p)';
    const hasExpired = 't <= :now';
    return { put, condition: `${isFirst} OR ${hasExpired}`, values: { ':now': number(nowSeconds) } };
  }
}

function isEmpty({ sent, unsent, moving }: DrawnList): boolean {
  return sent.length + unsent.length + moving.length === 0;
}

const EMPTY = { connectionId: undefined, sent: [], unsent: [], moving: [], isPushed: false } as const;

function keyOf(session: SessionRef): Key {
  return { p: ownedPartition(session), s: OWNED.drawn };
}
