import type { ConnectionId, SessionRef } from '@apus/broker';
import { batchGet } from './batch.ts';
import { type Key, sessionItemKey } from './keys.ts';
import { LETTER_OF, recordOf } from './session-item.ts';
import { connectionOf, type QueuePhase, type QueueStanding, SessionSnapshot } from './session-ref.ts';
import type { Table, Written } from './table.ts';
import { number, text, textOf } from './values.ts';

/** A session and its queue as they were read: what a decision is based on. */
export interface QueueView {
  readonly session: SessionRef;
  readonly connectionId: ConnectionId | undefined;
  /** 0 while the session is offline. */
  readonly receiveMaximum: number;
  /** Kept up to date with what this process changes. */
  readonly standing: QueueStanding;
}

export function isLive({ connectionId, standing }: QueueView): boolean {
  return connectionId !== undefined && (standing.phase === 'live' || standing.phase === 'crowded');
}

/** As the ref itself says. Undefined: it does not. */
export function knownView(session: SessionRef): QueueView | undefined {
  if (!(session instanceof SessionSnapshot) || session.standing === undefined) return undefined;
  return {
    session,
    connectionId: connectionOf(session),
    receiveMaximum: session.attachment?.receiveMaximum ?? 0,
    standing: session.standing,
  };
}

/** Reads and changes what a session item says of its queue. */
export class QueueViews {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** As the refs say that a match or a look-up has just read; the others are read. Undefined for ended incarnations. */
  async of(sessions: readonly SessionRef[]): Promise<(QueueView | undefined)[]> {
    const known = sessions.map(knownView);
    const unread = sessions.filter((_, index) => known[index] === undefined);
    const read = await this.read(unread);
    return known.map((view) => view ?? read.shift());
  }

  async read(sessions: readonly SessionRef[]): Promise<(QueueView | undefined)[]> {
    const found = await batchGet(this.#table, sessions.map(keyOf));
    return sessions.map((session) => {
      const item = found.get(keyOf(session));
      const current = item && recordOf(item, session.tenant, session.clientId)?.session;
      return current?.incarnation === session.incarnation ? knownView(current) : undefined;
    });
  }

  /** One clause each: of this incarnation, on this connection, and in one of these phases. False when it is not so. */
  async change(
    view: QueueView,
    from: readonly QueuePhase[],
    to: QueuePhase,
    removed = NOTHING,
  ): Promise<boolean> {
    const isThisIncarnation = 'i = :incarnation';
    const isThisConnection = 'c = :connection';
    const isInPhase = `q IN (${from.map((_, index) => `:from${index}`).join(', ')})`;
    const phases = Object.fromEntries(
      from.map((phase, index) => [`:from${index}`, text(LETTER_OF[phase])] as const),
    );
    const count = this.#countOf(removed);
    const written = await this.#table.update(
      keyOf(view.session),
      `SET q = :to, qa = :now${count.alsoSet}${count.add}`,
      {
        condition: [isThisIncarnation, isThisConnection, isInPhase, ...count.conditions].join(' AND '),
        values: {
          ':incarnation': text(view.session.incarnation),
          ':connection': text(view.connectionId ?? ''),
          ':to': text(LETTER_OF[to]),
          ':now': number(this.#table.settings.clock.now()),
          ...count.values,
          ...phases,
        },
      },
    );
    if (!written.ok && !isAlreadySo(written, view, to)) return false;
    view.standing.phase = to;
    noteRemoved(view, removed);
    return true;
  }

  /** Counts what has left the waiting ones, where nothing else is written. */
  async countRemoved(view: QueueView, removed: Removed): Promise<void> {
    if (removed.messages === 0) return;
    noteRemoved(view, removed);
    const isThisIncarnation = 'i = :incarnation';
    const count = this.#countOf(removed);
    await this.#table.update(keyOf(view.session), `SET qa = :now${count.alsoSet}${count.add}`, {
      condition: [isThisIncarnation, ...count.conditions].join(' AND '),
      values: {
        ':incarnation': text(view.session.incarnation),
        ':now': number(this.#table.settings.clock.now()),
        ...count.values,
      },
    });
  }

  /**
   * What was removed is counted once, although an answer may be lost and the write made again: it leaves a mark, and is
   * not made where that stands. Between the two another may count and leave its own; then it is counted twice, until
   * the queue is empty.
   */
  #countOf({ messages, bytes }: Removed) {
    if (messages === 0) return { alsoSet: '', add: '', conditions: [], values: {} };
    const isNotCounted = '(attribute_not_exists(rk) OR rk <> :mark)';
    return {
      alsoSet: ', rk = :mark',
      add: ' ADD rn :messages, rb :bytes',
      conditions: [isNotCounted],
      values: {
        ':mark': text(this.#table.settings.randomId()),
        ':messages': number(messages),
        ':bytes': number(bytes),
      },
    };
  }

  /** What was there has been cleared: whoever comes next finds out that nothing waits. */
  async unsettle(session: SessionRef): Promise<void> {
    const isThisIncarnation = 'i = :incarnation';
    await this.#table.update(keyOf(session), 'SET q = :settling', {
      condition: isThisIncarnation,
      values: { ':incarnation': text(session.incarnation), ':settling': text(LETTER_OF.settling) },
    });
  }
}

/**
 * An attempt whose answer was lost has made the change, or somebody else has made the same one: it is so, and whoever
 * asked for it has to go on. A publisher that took it for refused would append and tell nobody.
 */
function isAlreadySo(
  { old, isRetry }: Written,
  { session, connectionId }: QueueView,
  phase: QueuePhase,
): boolean {
  if (!isRetry) return false;
  const isThisIncarnation = textOf(old, 'i') === session.incarnation;
  const isThisConnection = textOf(old, 'c') === connectionId;
  return isThisIncarnation && isThisConnection && textOf(old, 'q') === LETTER_OF[phase];
}

export interface Removed {
  readonly messages: number;
  readonly bytes: number;
}

const NOTHING: Removed = { messages: 0, bytes: 0 };

function noteRemoved({ standing }: QueueView, { messages, bytes }: Removed): void {
  standing.removed += messages;
  standing.removedBytes += bytes;
}

function keyOf({ tenant, clientId }: SessionRef): Key {
  return sessionItemKey(tenant, clientId);
}
