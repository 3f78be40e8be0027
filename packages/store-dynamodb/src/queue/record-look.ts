import type { ConnectionId, SessionRef } from '@apus/broker';
import { DECISIONS_MAX } from '../limits.ts';
import { connectionOf, SessionSnapshot } from '../sessions/session-ref.ts';
import { ContentionError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import { decide } from './decide.ts';
import type { Records } from './records.ts';
import type { StoredRecord } from './types.ts';

/** A publisher that has appended looks at the record once more: is the client going to dequeue the messages? */
export class RecordLook {
  readonly #records: Records;
  readonly #event: EventCache;
  readonly #unannounced = new Set<ConnectionId>();
  readonly #uncertain = new Set<ConnectionId>();

  constructor(records: Records, event: EventCache) {
    this.#records = records;
    this.#event = event;
  }

  /** Connections whose clients have to be told to fetch. */
  get unannounced(): readonly ConnectionId[] {
    return [...this.#unannounced];
  }

  /** Connections that have lost their sessions and have to be closed: see `lookAfterAppending`. */
  get uncertain(): readonly ConnectionId[] {
    return [...this.#uncertain];
  }

  /**
   * Makes sure that the client fetches the messages that wait, or is told to. 'over': the session has ended.
   *
   * @param names of the messages that the caller has appended
   */
  async look(session: SessionRef, names: readonly string[]): Promise<'seen' | 'over'> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const stored = await this.#records.read(session);
      const [effect] = stored === undefined ? [] : decide(stored.record, { type: 'appended', names }).effects;
      if (stored === undefined || effect?.type === 'pass-on') return 'over';
      if (effect?.type === 'end-connection') {
        const { connectionId } = effect;
        // The connection whose frame is handled stays open: see `RecordOffer`.
        if (this.#event.isOf(connectionId)) return 'seen';
        await this.#records.lost(session, connectionId);
        this.#uncertain.add(connectionId);
        continue;
      }
      const isAnnounced = effect?.type === 'object' && (await this.#object(session, stored));
      if (effect?.type === 'nudge' || isAnnounced) this.#announce(stored);
      if (effect?.type !== 'object' || isAnnounced) return 'seen';
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /**
   * A publisher has written the first record of a session from the session item. Before that there was no record to
   * update, so the client may have disconnected or moved unnoticed; the session item says so. If no CONNECT has
   * resumed the session since it began, another connection in the item means that the session has moved there. False:
   * the session is over.
   */
  async confirmFirstRecord(session: SessionRef, { attachment }: StoredRecord): Promise<boolean> {
    const records = this.#records;
    const present = await records.present(session);
    if (present === undefined || attachment === undefined) return false;
    const { connectionId } = attachment;
    if (connectionOf(present) === connectionId) return true;
    const isFirstOpening = present instanceof SessionSnapshot && present.opening?.isNew === true;
    if (isFirstOpening && present.attachment !== undefined)
      await records.renew(session, present.attachment, connectionId);
    else await records.lost(session, connectionId);
    return true;
  }

  /**
   * The reply of the frame tells the frame's own client that more waits. A client that takes no nudges learns it from
   * the reply to its next acknowledgement or PINGREQ.
   */
  #announce({ attachment }: StoredRecord): void {
    if (attachment === undefined) return;
    const { connectionId, takesNudges = false } = attachment;
    if (this.#event.isOf(connectionId)) this.#event.noteMore(true);
    else if (takesNudges) this.#unannounced.add(connectionId);
  }

  /** False: another process has changed the record meanwhile. */
  async #object(session: SessionRef, stored: StoredRecord): Promise<boolean> {
    if (stored.nonce !== undefined) return await this.#records.object(session);
    const { record } = decide(stored.record, { type: 'object' });
    const { ok } = await this.#records.write(session, stored, { ...stored, record });
    if (ok) await this.confirmFirstRecord(session, stored);
    return ok;
  }
}
