import {
  type Attachment,
  type Awaitable,
  type ConnectionId,
  type DetachSession,
  type EndSession,
  type Identity,
  type MessageId,
  type OpenedSession,
  type OpenSession,
  type SessionEnd,
  type SessionMove,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
  sessionKey,
  type WillClaim,
} from '@apus/broker';
import type { Holdings, MemorySessions } from '@apus/store-memory';
import type { DurableSession, DurableSessions } from './durable-sessions.ts';
import { isPassingNumber } from './keys.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { SessionEnds } from './session-ends.ts';
import type { Writer } from './writer.ts';

/**
 * Which sessions are written: those that outlive their connection; the wills of the others, too, which another process
 * publishes if this one dies; or all of them, where connections outlive the memory of the process.
 */
export type WrittenSessions = 'outliving' | 'and-wills' | 'all';

/** Sessions in memory, and those that outlive their connection on the disk as well. */
export class DiskSessions implements SessionStore {
  readonly #memory: MemorySessions;
  readonly #durables: DurableSessions;
  readonly #repeatable: RepeatableFanOuts;
  readonly #writer: Writer;
  readonly #ends: SessionEnds;
  readonly #written: WrittenSessions;
  /** Sessions, by key, whose new connection waits for the disk. */
  readonly #opening = new Map<string, Promise<OpenedSession>>();

  constructor(
    memory: MemorySessions,
    durables: DurableSessions,
    repeatable: RepeatableFanOuts,
    writer: Writer,
    written: WrittenSessions = 'outliving',
  ) {
    this.#memory = memory;
    this.#durables = durables;
    this.#repeatable = repeatable;
    this.#writer = writer;
    this.#ends = new SessionEnds(writer);
    this.#written = written;
  }

  open(request: OpenSession): Awaitable<OpenedSession | 'owned-by-another'> {
    const key = sessionKey(request.tenant, request.clientId);
    const before = this.#opening.get(key);
    if (before !== undefined) {
      return before.then(
        () => this.open(request),
        () => this.open(request),
      );
    }
    const current = this.#memory.get(request.tenant, request.clientId)?.session;
    const isDurable = current !== undefined && this.#durables.living(current) !== undefined;
    const isWritten = isDurable || this.#isWritten(request);
    const isOnlyInMemory = !isWritten && this.#ends.isDurable(key);
    if (!isOnlyInMemory) this.#writer.assertWorking();
    const opened = this.#memory.open(request);
    if (opened === 'owned-by-another') return opened;
    this.#forgetWillOf(opened.session, opened.previous?.lastConnectionId);
    if (isOnlyInMemory) return opened;
    this.#write(request, opened);
    const written = this.#writer.durable(opened);
    return written instanceof Promise ? this.#attachWhenDurable(key, request, opened, written) : opened;
  }

  /** The number of its records, if they are kept apart: it ends with its connection. */
  passingNumberOf(session: SessionRef): number | undefined {
    const number = this.#durables.find(session)?.number;
    return number !== undefined && isPassingNumber(number) ? number : undefined;
  }

  get(tenant: string, clientId: string): SessionRecord | undefined {
    return this.#memory.get(tenant, clientId);
  }

  detach(request: DetachSession): Awaitable<SessionRecord | undefined> {
    const record = this.#memory.detach(request);
    this.#forgetWillOf(request.session, request.connectionId);
    return record === undefined ? undefined : this.#saved(request.session, record);
  }

  end(request: EndSession): Awaitable<SessionEnd> {
    const { session } = request;
    const durable = this.#durables.living(session);
    const end = this.#memory.end(request);
    this.#forgetWillOf(session, request.connectionId);
    if (end !== 'ended' || durable === undefined) return end;
    this.#durables.end(durable);
    this.#ends.add(session.key);
    return this.#writer.accepted(end);
  }

  renew(
    session: SessionRef,
    attachment: Attachment,
    identity: Identity,
    move?: SessionMove,
  ): Awaitable<SessionRef | undefined> {
    const renewed = this.#memory.renew(session, attachment, identity, move);
    return renewed && this.#saved(session, renewed);
  }

  noteReplays(
    session: SessionRef,
    connectionId: ConnectionId,
    topicFilters: readonly string[],
  ): Awaitable<void> {
    this.#memory.noteReplays(session, connectionId, topicFilters);
    return this.#saved(session, undefined);
  }

  beginWill(
    session: SessionRef,
    connectionId: ConnectionId,
    messageId: MessageId,
    nowMs: number,
  ): Awaitable<WillClaim> {
    const claim = this.#memory.beginWill(session, connectionId, messageId, nowMs);
    if (claim.state !== 'begun') return claim;
    if (!claim.isRepeat && this.#saveWill(session, connectionId)) this.#repeatable.begin(messageId);
    return this.#writer.beforeFanOut(claim);
  }

  doneWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void> {
    const held = this.#memory.willOf(session, connectionId);
    if (held?.messageId === undefined) return;
    this.#memory.doneWill(session, connectionId);
    this.#saveWill(session, connectionId);
    this.#repeatable.end(held.messageId);
    return this.#writer.accepted(undefined);
  }

  discardWill(session: SessionRef, connectionId: ConnectionId): Awaitable<void> {
    if (this.#memory.willOf(session, connectionId) === undefined) return;
    this.#memory.discardWill(session, connectionId);
    this.#saveWill(session, connectionId);
    return this.#writer.accepted(undefined);
  }

  remove(session: SessionRef, lastConnectionId?: ConnectionId): Awaitable<boolean> {
    const durable = this.#durables.living(session);
    const held = durable?.live.state.will;
    const isRemoved = this.#memory.remove(session, lastConnectionId);
    if (!isRemoved || durable === undefined) return isRemoved;
    this.#durables.end(durable);
    this.#ends.add(session.key);
    if (held?.messageId !== undefined) this.#durables.owedWills.save(session, held);
    return this.#writer.accepted(isRemoved);
  }

  count(): number {
    return this.#memory.count();
  }

  /** Counts of what sessions hold, by identity and by tenant. */
  get holdings(): Holdings {
    return this.#memory.holdings;
  }

  /** Every session, connected or not. Valid until a session is opened or removed. */
  all(): Iterable<SessionRecord> {
    return this.#memory.all();
  }

  #write({ expirySeconds }: OpenSession, opened: OpenedSession): void {
    const { session, present, previous, owedWillOf } = opened;
    const last = previous && this.#durables.living(previous.session);
    const owed = last && owedWillOf && this.#memory.willOf(session, owedWillOf);
    if (owed) this.#durables.owedWills.save(session, owed);
    if (present) {
      if (last !== undefined) this.#continue(last);
      return;
    }
    if (last !== undefined) this.#durables.end(last);
    const live = this.#memory.live(session);
    if (live === undefined) return;
    if (expirySeconds > 0 || this.#written === 'all') this.#durables.save(this.#durables.begin(live));
    if (expirySeconds === 0 && this.#written !== 'outliving' && live.state.will !== undefined)
      this.#durables.owedWills.save(session, live.state.will);
  }

  #isWritten({ expirySeconds, will }: OpenSession): boolean {
    if (expirySeconds > 0 || this.#written === 'all') return true;
    return will !== undefined && this.#written === 'and-wills';
  }

  /** Removes the record of an owed will when nothing can become of the will any more. */
  #forgetWillOf(session: SessionRef, connectionId: ConnectionId | undefined): void {
    const { owedWills } = this.#durables;
    if (connectionId === undefined || !owedWills.has(connectionId)) return;
    if (this.#memory.willOf(session, connectionId) === undefined) owedWills.remove(connectionId);
  }

  #continue(durable: DurableSession): void {
    durable.queue?.rewind();
    this.#durables.save(durable);
  }

  /**
   * The new connection is invisible until the session is on the disk, so that no message is sent before CONNACK; a
   * second CONNECT waits for the first. The connection appears in a turn of its own, in which the caller runs next:
   * nothing comes between the two.
   */
  #attachWhenDurable(
    key: string,
    request: OpenSession,
    opened: OpenedSession,
    written: Promise<unknown>,
  ): Promise<OpenedSession> {
    const live = this.#memory.live(opened.session);
    if (live !== undefined) live.attachment = undefined;
    const opening = new Promise<OpenedSession>((resolve, reject) => {
      const attach = () => {
        this.#opening.delete(key);
        if (live?.state.hasEnded === false) live.attachment = request.attachment;
        resolve(opened);
      };
      const fail = (error: unknown) => {
        this.#opening.delete(key);
        reject(error);
      };
      written.then(() => setImmediate(attach), fail);
    });
    this.#opening.set(key, opening);
    return opening;
  }

  /** Writes the state of a will. False: the session is in memory only. */
  #saveWill(session: SessionRef, connectionId: ConnectionId): boolean {
    const { owedWills } = this.#durables;
    if (owedWills.has(connectionId)) {
      const held = this.#memory.willOf(session, connectionId);
      if (held === undefined) owedWills.remove(connectionId);
      else owedWills.save(session, held);
      return true;
    }
    const current = this.#memory.get(session.tenant, session.clientId)?.session;
    const durable = current && this.#durables.living(current);
    if (durable === undefined) return false;
    this.#durables.save(durable);
    return true;
  }

  #saved<T>(session: SessionRef, answer: T): Awaitable<T> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return answer;
    this.#durables.save(durable);
    return this.#writer.accepted(answer);
  }
}
