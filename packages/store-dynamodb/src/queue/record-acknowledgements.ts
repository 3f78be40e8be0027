import { type Acknowledged, type CompletingPacket, ConnectionLost, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { DECISIONS_MAX } from '../limits.ts';
import { connectionOf } from '../sessions/session-ref.ts';
import { ContentionError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import { acknowledgedAs, arrived } from './acknowledge-entries.ts';
import { decide } from './decide.ts';
import { isOutsideLog } from './entries.ts';
import type { RecordLog } from './record-log.ts';
import type { Records } from './records.ts';
import type { Acknowledgement, Decision, QueueRecord, Removed, StoredRecord } from './types.ts';

/** Applies the acknowledgements of a client to the record of its session. */
export class RecordAcknowledgements {
  readonly #records: Records;
  readonly #log: RecordLog;
  readonly #event: EventCache;
  #gathered: Gathered | undefined;

  constructor(records: Records, log: RecordLog, event: EventCache) {
    this.#records = records;
    this.#log = log;
    this.#event = event;
  }

  async complete(session: SessionRef, packetId: PacketId, answer?: CompletingPacket): Promise<Acknowledged> {
    if (answer === 'puback' || answer === 'pubcomp') {
      const noted = await this.#note(session, { packet: answer, packetId });
      if (noted !== undefined) return noted === 'ended' ? 'unknown' : noted;
    }
    return await this.#change(session, (record) => {
      const entry = record.entries.find((each) => each.packetId === packetId);
      if (answer === 'puback' || answer === 'pubcomp')
        return acknowledged(record, { packet: answer, packetId });
      if (entry === undefined || entry.phase === 'unsent' || entry.phase === 'pubrel-due') return 'unknown';
      // PUBREC with an error ends the exchange.
      if (answer === 'pubrec' && (entry.qos !== 2 || entry.phase !== 'sent')) return 'out-of-place';
      const seen = answer === 'pubrec' && record.awaits === packetId ? arrived(record) : record;
      return decide(seen, { type: 'give-up', packetId });
    });
  }

  /**
   * PUBREC, which PUBREL answers. If the connection has lost its session, the message will be sent again, and no
   * PUBREL may answer: the client would complete the message, and take the next PUBLISH for another one.
   */
  async release(session: SessionRef, packetId: PacketId): Promise<Acknowledged> {
    const noted = await this.#note(session, { packet: 'pubrec', packetId });
    if (noted !== undefined) return noted;
    const outcome = await this.#change(
      session,
      (record) => acknowledged(record, { packet: 'pubrec', packetId }),
      true,
    );
    if (outcome !== 'unknown') return outcome;
    const stored = this.recordFor(session) ?? (await this.#records.find(session));
    return stored !== undefined && isOther(stored, session) ? 'ended' : outcome;
  }

  /**
   * Notes the only packet of a frame: one write appends it to the record and returns the record as it was, so no read
   * is needed. Only for a message that need not be deleted from the log first, and only if the frame dequeues no page,
   * since the page would be written with it.
   *
   * Undefined: the record has to be read.
   */
  async #note(session: SessionRef, acknowledgement: Acknowledgement): Promise<Acknowledged | undefined> {
    const { isOnePacket, isPushing } = this.#event;
    const { packet, packetId } = acknowledgement;
    const connectionId = connectionOf(session);
    const dequeues = !isPushing && packet !== 'pubrec';
    if (!isOnePacket || dequeues || !isOutsideLog(packetId) || connectionId === undefined) return undefined;
    const { ok, before, isRetry } = await this.#records.note(session, connectionId, acknowledgement);
    if (before === undefined) return 'unknown';
    if (!ok) return isOther(before, session) ? 'ended' : undefined;
    const outcome = acknowledgedAs(before.record, acknowledgement);
    if (outcome === 'unknown') return isRetry ? 'done' : outcome;
    if (before.record.mode === 'backlog' && !isPushing) this.#event.noteRoom();
    return outcome;
  }

  /** The session's record with the frame's acknowledgements applied. Undefined: the frame has none. */
  recordFor(session: SessionRef): StoredRecord | undefined {
    return this.#gatheredFor(session)?.changed;
  }

  /** A page was written, and the gathered acknowledgements with it. */
  written(session: SessionRef): void {
    if (this.#gatheredFor(session) !== undefined) this.#gathered = undefined;
  }

  /**
   * A frame gathers its acknowledgements and writes them with the page for which they make room, or at the end of the
   * frame. The reply leaves after that. A frame that fails has acknowledged nothing.
   */
  async #change(session: SessionRef, decideOn: DecideOn, isAnswered = false): Promise<Acknowledged> {
    if (!this.#event.isOpen) return await this.#changeNow(session, decideOn);
    let gathered = this.#gatheredFor(session);
    if (gathered === undefined) {
      await this.commit();
      const read = await this.#records.find(session);
      if (read === undefined || isOther(read, session)) return 'unknown';
      gathered = { session, read, changed: read, decided: [], deleted: [], isAnswered: false };
    }
    const applied = applyTo(gathered.changed, decideOn);
    if (typeof applied === 'string') return applied;
    const { changed, deleted } = applied;
    // The acknowledgement frees places, which a frame with a reply fills.
    if (changed.record.mode === 'backlog' && !this.#event.isPushing) this.#event.noteRoom();
    this.#gathered = {
      ...gathered,
      changed,
      decided: [...gathered.decided, decideOn],
      deleted: [...gathered.deleted, ...deleted],
      isAnswered: gathered.isAnswered || isAnswered,
    };
    return 'done';
  }

  /**
   * Writes the gathered acknowledgements.
   *
   *     handler of PUBREC                  handler of a publisher
   *     answers PUBREL
   *                                        its post failed: the session loses the connection
   *     the record is another: nothing is written
   *     (were the reply to leave …)
   *     … the client would complete the message, and take the PUBLISH that comes again for another one
   *
   * @throws {ConnectionLost} then. Without a PUBREC there is nothing to answer, and the connection ends by itself
   */
  async commit(): Promise<void> {
    const gathered = this.#gathered;
    if (gathered === undefined) return;
    const { session, decided } = gathered;
    let { read, changed } = gathered;
    await this.deleteFromLog(session);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (read.record === changed.record || (await this.#records.write(session, read, changed)).ok) {
        this.#gathered = undefined;
        return;
      }
      const found = await this.#records.find(session);
      if (found === undefined || isOther(found, session)) {
        this.#gathered = undefined;
        if (gathered.isAnswered) throw new ConnectionLost();
        return;
      }
      read = found;
      changed = decided.reduce((before, decideOn) => {
        const applied = applyTo(before, decideOn);
        return typeof applied === 'string' ? before : applied.changed;
      }, found);
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  #gatheredFor({ incarnation, key }: SessionRef): Gathered | undefined {
    const session = this.#gathered?.session;
    return session?.incarnation === incarnation && session.key === key ? this.#gathered : undefined;
  }

  /**
   * Deletes items of the log before the record is written: if that write fails, an entry without a body counts as
   * acknowledged.
   */
  async deleteFromLog(session: SessionRef): Promise<void> {
    const gathered = this.#gatheredFor(session);
    if (gathered === undefined || gathered.deleted.length === 0) return;
    await this.#log.deleteAll(session, gathered.deleted);
    this.#gathered = { ...gathered, deleted: [] };
  }

  async #changeNow(session: SessionRef, decideOn: DecideOn): Promise<Acknowledged> {
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      const read = await this.#records.find(session);
      if (read === undefined || isOther(read, session)) return 'unknown';
      const applied = applyTo(read, decideOn);
      if (typeof applied === 'string') return applied;
      await this.#log.deleteAll(session, applied.deleted);
      if (applied.changed.record === read.record) return 'done';
      if ((await this.#records.write(session, read, applied.changed)).ok) return 'done';
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }
}

type DecideOn = (record: QueueRecord) => Decision | Acknowledged;

/** The acknowledgements of one frame for one session. */
interface Gathered {
  readonly session: SessionRef;
  readonly read: StoredRecord;
  /** The record with the acknowledgements. */
  readonly changed: StoredRecord;
  readonly decided: readonly DecideOn[];
  /** Names of items in the log that have to be deleted. */
  readonly deleted: readonly string[];
  /** PUBREC is among them, and the frame's reply answers it with PUBREL. */
  readonly isAnswered: boolean;
}

function isOther({ record }: StoredRecord, session: SessionRef): boolean {
  const connectionId = connectionOf(session);
  return connectionId !== undefined && record.connectionId !== connectionId;
}

/** The record with an acknowledgement; or the reason why the acknowledgement changes nothing. */
function applyTo(
  stored: StoredRecord,
  decideOn: DecideOn,
): { readonly changed: StoredRecord; readonly deleted: readonly string[] } | Acknowledged {
  const decision = decideOn(stored.record);
  if (typeof decision === 'string') return decision;
  const deleted = decision.effects.flatMap((effect) => (effect.type === 'delete' ? effect.name : []));
  const removed = removedWith(stored, deleted);
  return { changed: { ...stored, record: decision.record, removed }, deleted };
}

/** A message counts as gone from the log when its entry leaves the record. */
function removedWith({ record, removed }: StoredRecord, deleted: readonly string[]): Removed {
  const gone = record.entries.filter(({ name }) => deleted.includes(name));
  return {
    messages: removed.messages + gone.length,
    bytes: removed.bytes + gone.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

function acknowledged(record: QueueRecord, acknowledgement: Acknowledgement): Decision | Acknowledged {
  const outcome = acknowledgedAs(record, acknowledgement);
  if (outcome !== 'done') return outcome;
  const frame = {
    connectionId: record.connectionId ?? '',
    acknowledgements: [acknowledgement],
    dequeue: undefined,
  };
  return decide({ ...record, connectionId: frame.connectionId }, { type: 'frame', ...frame });
}
