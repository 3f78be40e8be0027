import { type Acknowledged, type CompletingPacket, ConnectionLost, type SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';
import { DECISIONS_MAX } from '../limits.ts';
import { connectionOf } from '../sessions/session-ref.ts';
import { ContentionError } from '../table/errors.ts';
import type { EventCache } from '../table/event-cache.ts';
import { acknowledgedAs, arrived } from './acknowledge-entries.ts';
import { isOutsideLog } from './entries.ts';
import type { RecordLog } from './record-log.ts';
import type { HeldRecord, Records, Removed } from './records.ts';
import { decide } from './session-record.ts';
import type { Acknowledgement, Decision, QueueRecord } from './types.ts';

/** Applies the acknowledgements of clients to their sessions' records. */
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
   * PUBREC, which is answered. On a connection that the session has lost, its message will be sent again: to a PUBREL that
   * says that there is none the client would complete the message, and take the next one for another.
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
    const held = this.heldFor(session) ?? (await this.#records.find(session));
    return held !== undefined && isOther(held, session) ? 'ended' : outcome;
  }

  /**
   * The only packet of a frame: the write that acknowledges it returns the record as it was, so nothing is read. Only where
   * nothing has to be deleted from the log before, and the frame dequeues no page, which would be written with it.
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

  /** The session's record with what the frame has acknowledged. Undefined: nothing of it. */
  heldFor(session: SessionRef): HeldRecord | undefined {
    return this.#gatheredFor(session)?.held;
  }

  /** A page has been written with it. */
  written(session: SessionRef): void {
    if (this.#gatheredFor(session) !== undefined) this.#gathered = undefined;
  }

  /**
   * In a frame the acknowledgements are gathered, and written with the page that they make room for, or at the frame's end:
   * the reply leaves after that. A frame that fails has acknowledged nothing.
   */
  async #change(session: SessionRef, decideOn: DecideOn, isAnswered = false): Promise<Acknowledged> {
    if (!this.#event.isOpen) return await this.#changeNow(session, decideOn);
    let gathered = this.#gatheredFor(session);
    if (gathered === undefined) {
      await this.commit();
      const held = await this.#records.find(session);
      if (held === undefined || isOther(held, session)) return 'unknown';
      gathered = { session, read: held, held, decided: [], deleted: [], isAnswered: false };
    }
    const applied = applyTo(gathered.held, decideOn);
    if (typeof applied === 'string') return applied;
    const { held, deleted } = applied;
    // The acknowledgement frees places, which a frame with a reply fills.
    if (held.record.mode === 'backlog' && !this.#event.isPushing) this.#event.noteRoom();
    this.#gathered = {
      ...gathered,
      held,
      decided: [...gathered.decided, decideOn],
      deleted: [...gathered.deleted, ...deleted],
      isAnswered: gathered.isAnswered || isAnswered,
    };
    return 'done';
  }

  /**
   * Writes what the frame has gathered.
   *
   *     handler of PUBREC                  handler of a publisher
   *     answers PUBREL
   *                                        its post failed: the session loses the connection
   *     the record is another: nothing is written
   *     (were the reply to leave …)
   *     … the client would complete the message, and take the PUBLISH that comes again for another one
   *
   * @throws {ConnectionLost} then. Without a PUBREC nothing is answered, and the connection goes on to its end by itself
   */
  async commit(): Promise<void> {
    const gathered = this.#gathered;
    if (gathered === undefined) return;
    const { session, decided } = gathered;
    let { read, held } = gathered;
    await this.deleteFromLog(session);
    for (let decisions = 0; decisions < DECISIONS_MAX; decisions += 1) {
      if (read.record === held.record || (await this.#records.write(session, read, held)).ok) {
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
      held = decided.reduce((before, decideOn) => {
        const applied = applyTo(before, decideOn);
        return typeof applied === 'string' ? before : applied.held;
      }, found);
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }

  #gatheredFor({ incarnation, key }: SessionRef): Gathered | undefined {
    const session = this.#gathered?.session;
    return session?.incarnation === incarnation && session.key === key ? this.#gathered : undefined;
  }

  /** The items of the log go first: an entry without a body counts as acknowledged, also where the write fails. */
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
      if (applied.held.record === read.record) return 'done';
      if ((await this.#records.write(session, read, applied.held)).ok) return 'done';
    }
    throw new ContentionError('a session record', DECISIONS_MAX);
  }
}

type DecideOn = (record: QueueRecord) => Decision | Acknowledged;

/** Acknowledgements of one frame. */
interface Gathered {
  readonly session: SessionRef;
  /** The record as it was read. */
  readonly read: HeldRecord;
  /** As they make it. */
  readonly held: HeldRecord;
  readonly decided: readonly DecideOn[];
  /** Names in the log that are still to be deleted. */
  readonly deleted: readonly string[];
  /** PUBREC is among them: PUBREL answers it in the frame's reply. */
  readonly isAnswered: boolean;
}

function isOther({ record }: HeldRecord, session: SessionRef): boolean {
  const connectionId = connectionOf(session);
  return connectionId !== undefined && record.connectionId !== connectionId;
}

/** The record with an acknowledgement, under the version that was read; or why it changes nothing. */
function applyTo(
  held: HeldRecord,
  decideOn: DecideOn,
): { readonly held: HeldRecord; readonly deleted: readonly string[] } | Acknowledged {
  const decision = decideOn(held.record);
  if (typeof decision === 'string') return decision;
  const deleted = decision.effects.flatMap((effect) => (effect.type === 'delete' ? effect.name : []));
  return { held: { ...held, record: decision.record, removed: removedWith(held, deleted) }, deleted };
}

/** Each entry counts once: when it leaves the record. */
function removedWith({ record, removed }: HeldRecord, deleted: readonly string[]): Removed {
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
