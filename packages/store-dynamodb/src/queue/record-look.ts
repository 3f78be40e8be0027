import type { ConnectionId, SessionRef } from '@apus/broker';
import { DECISIONS_MAX } from '../limits.ts';
import { connectionOf, SessionSnapshot } from '../sessions/session-ref.ts';
import { ContentionError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import type { HeldRecord, Records } from './records.ts';
import { decide } from './session-record.ts';

/** The second half of “append, then look again”: the client of the session dequeues the messages that wait. */
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

  /** Connections that have lost their sessions, and are to be ended: see `lookAfterAppending`. */
  get uncertain(): readonly ConnectionId[] {
    return [...this.#uncertain];
  }

  /**
   * The client fetches the messages that wait, or has to be told to fetch. 'over': the session has ended.
   *
   * @param names of the messages that the caller has appended
   */
  async look(session: SessionRef, names: readonly string[]): Promise<'seen' | 'over'> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const held = await this.#records.read(session);
      const [effect] = held === undefined ? [] : decide(held.record, { type: 'appended', names }).effects;
      if (held === undefined || effect?.type === 'pass-on') return 'over';
      if (effect?.type === 'end-connection') {
        const { connectionId } = effect;
        // The connection whose frame this is stays: see `RecordOffer`.
        if (this.#event.isOf(connectionId)) return 'seen';
        await this.#records.lost(session, connectionId);
        this.#uncertain.add(connectionId);
        continue;
      }
      const isAnnounced = effect?.type === 'object' && (await this.#object(session, held));
      if (effect?.type === 'nudge' || isAnnounced) this.#announce(held);
      if (effect?.type !== 'object' || isAnnounced) return 'seen';
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  /**
   * The first record of a session is written from its session item. Its client may have disconnected or moved meanwhile,
   * when there was no record yet to update. If no CONNECT has resumed the session since it began, one of another
   * connection has moved there. False: the session is over.
   */
  async isStill(session: SessionRef, { attachment }: HeldRecord): Promise<boolean> {
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
   * To its own client the frame's reply says that more waits. A client that takes no nudges hears of it with the reply to
   * its next acknowledgement or PINGREQ.
   */
  #announce({ attachment }: HeldRecord): void {
    if (attachment === undefined) return;
    const { connectionId, takesNudges = false } = attachment;
    if (this.#event.isOf(connectionId)) this.#event.noteMore(true);
    else if (takesNudges) this.#unannounced.add(connectionId);
  }

  /** False: the record has changed meanwhile. */
  async #object(session: SessionRef, held: HeldRecord): Promise<boolean> {
    if (held.nonce !== undefined) return await this.#records.object(session);
    const { record } = decide(held.record, { type: 'object' });
    const { ok } = await this.#records.write(session, held, { ...held, record });
    if (ok) await this.isStill(session, held);
    return ok;
  }
}
