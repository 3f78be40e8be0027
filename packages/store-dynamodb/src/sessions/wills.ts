import type { ConnectionId, Identity, MessageId, SessionRef, WillClaim } from '@apus/broker';
import { type Key, sessionItemKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf } from '../table/values.ts';
import { hasWill, identityOf, NONE, owedIdentityOf, owedWillsOf, willOf } from './session-item.ts';

const NOTHING: WillClaim = { state: 'none' };

/**
 * The wills in a session item: that of its last connection, and owed wills of earlier ones. Each call looks at the
 * first one, and at the others if its connection is not the last.
 */
export class Wills {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /**
   *     will timer                    session-expiry timer
   *     begin: message m
   *                                   begin: m is there already, and is returned
   *
   * A will has a time only while its connection is gone: `detach` gives it one, and `open` takes it away.
   */
  async begin(
    session: SessionRef,
    connectionId: ConnectionId,
    messageId: MessageId,
    nowMs: number,
  ): Promise<WillClaim> {
    const isOfLast = 'l = :connection';
    const stands = 'w <> :none';
    const isDue = 'wd <= :now';
    const { ok, old } = await this.#table.update(keyOf(session), 'SET wm = if_not_exists(wm, :message)', {
      condition: `${isOfLast} AND ${stands} AND ${isDue}`,
      values: {
        ':connection': text(connectionId),
        ':none': text(NONE),
        ':now': number(nowMs),
        ':message': text(messageId),
      },
      returnsOld: true,
    });
    if (ok) return begun(textOf(old, 'w'), identityOf(old, session.tenant), textOf(old, 'wm'), messageId);
    const owed = owedWillsOf(old)?.[connectionId];
    if (owed !== undefined) return await this.#beginOwed(session, connectionId, messageId, owed);
    const dueAtMs = numberOf(old, 'wd');
    if (dueAtMs === undefined || textOf(old, 'l') !== connectionId || !hasWill(old)) return NOTHING;
    return { state: 'not-due', dueAtMs };
  }

  async done(session: SessionRef, connectionId: ConnectionId): Promise<void> {
    const isOfLast = 'l = :connection';
    const isBegun = 'attribute_exists(wm)';
    const { ok, old } = await this.#table.update(keyOf(session), 'SET w = :none REMOVE wm, wd, wr', {
      condition: `${isOfLast} AND ${isBegun}`,
      values: { ':connection': text(connectionId), ':none': text(NONE) },
    });
    if (ok || owedWillsOf(old)?.[connectionId] === undefined) return;
    const isOwedAndBegun = 'attribute_exists(ow.#connection.m)';
    await this.#table.update(keyOf(session), 'REMOVE ow.#connection', {
      condition: isOwedAndBegun,
      names: { '#connection': connectionId },
    });
  }

  /**
   *     will timer                    DISCONNECT
   *     begin: message m
   *                                   discard: fails, the will is being published
   */
  async discard(session: SessionRef, connectionId: ConnectionId): Promise<void> {
    const isOfLast = 'l = :connection';
    const stands = 'w <> :none';
    const isNotBegun = 'attribute_not_exists(wm)';
    const { ok, old } = await this.#table.update(keyOf(session), 'SET w = :none REMOVE wd, wr', {
      condition: `${isOfLast} AND ${stands} AND ${isNotBegun}`,
      values: { ':connection': text(connectionId), ':none': text(NONE) },
    });
    if (ok || owedWillsOf(old)?.[connectionId] === undefined) return;
    const isOwed = 'attribute_exists(ow.#connection)';
    const isOwedAndNotBegun = 'attribute_not_exists(ow.#connection.m)';
    await this.#table.update(keyOf(session), 'REMOVE ow.#connection', {
      condition: `${isOwed} AND ${isOwedAndNotBegun}`,
      names: { '#connection': connectionId },
    });
  }

  async #beginOwed(
    session: SessionRef,
    connectionId: ConnectionId,
    messageId: MessageId,
    owed: Item,
  ): Promise<WillClaim> {
    const known = textOf(owed, 'm');
    const identity = owedIdentityOf(owed, session.tenant);
    if (known !== undefined) return begun(textOf(owed, 'w'), identity, known, messageId);
    const isOwed = 'attribute_exists(ow.#connection)';
    const expression = 'SET ow.#connection.m = if_not_exists(ow.#connection.m, :message)';
    const { ok, old } = await this.#table.update(keyOf(session), expression, {
      condition: isOwed,
      names: { '#connection': connectionId },
      values: { ':message': text(messageId) },
      returnsOld: true,
    });
    const before = owedWillsOf(old)?.[connectionId];
    if (!ok || before === undefined) return NOTHING;
    return begun(textOf(before, 'w'), identity, textOf(before, 'm'), messageId);
  }
}

/** `known`: the message id that was there. If the answer to the first attempt was lost, it may be our own. */
function begun(
  json: string | undefined,
  identity: Identity,
  known: string | undefined,
  messageId: MessageId,
): WillClaim {
  const will = willOf(json);
  if (will === undefined) return NOTHING;
  const isRepeat = known !== undefined && known !== messageId;
  return { state: 'begun', will, identity, messageId: known ?? messageId, isRepeat };
}

function keyOf({ tenant, clientId }: SessionRef): Key {
  return sessionItemKey(tenant, clientId);
}
