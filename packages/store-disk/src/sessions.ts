import {
  type Awaitable,
  type ConnectionId,
  type OpenedSession,
  type OpenSession,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
  sessionKey,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import type { MemorySessions } from '@apus/store-memory';
import type { DurableSession, DurableSessions } from './durable-sessions.ts';
import type { Writer } from './writer.ts';

/** Sessions in memory, and those that outlive their connection on the disk as well. */
export class DiskSessions implements SessionStore {
  readonly #memory: MemorySessions;
  readonly #durables: DurableSessions;
  readonly #writer: Writer;
  /** Sessions whose connection waits for the disk, by key. */
  readonly #opening = new Map<string, Promise<OpenedSession>>();

  constructor(memory: MemorySessions, durables: DurableSessions, writer: Writer) {
    this.#memory = memory;
    this.#durables = durables;
    this.#writer = writer;
  }

  open(request: OpenSession): Awaitable<OpenedSession> {
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
    if (request.expirySeconds === 0 && !isDurable) return this.#memory.open(request);
    this.#writer.assertWorking();
    const opened = this.#memory.open(request);
    this.#write(request, opened);
    return this.#attachWhenDurable(key, request, opened);
  }

  get(tenant: string, clientId: string): SessionRecord | undefined {
    return this.#memory.get(tenant, clientId);
  }

  detach(
    session: SessionRef,
    connectionId: ConnectionId,
    expirySeconds: number,
    nowMs: number,
  ): Awaitable<SessionRecord | undefined> {
    const record = this.#memory.detach(session, connectionId, expirySeconds, nowMs);
    return record === undefined ? undefined : this.#saved(session, record);
  }

  takeWill(session: SessionRef, connectionId: ConnectionId): Awaitable<Will | undefined> {
    const will = this.#memory.takeWill(session, connectionId);
    return will === undefined ? undefined : this.#saved(session, will);
  }

  remove(session: SessionRef, lastConnectionId?: ConnectionId): Awaitable<boolean> {
    const isRemoved = this.#memory.remove(session, lastConnectionId);
    const durable = this.#durables.living(session);
    if (!isRemoved || durable === undefined) return isRemoved;
    this.#durables.end(durable);
    return this.#writer.settled(isRemoved);
  }

  count(): number {
    return this.#memory.count();
  }

  #write({ expirySeconds }: OpenSession, { session, present, previous }: OpenedSession): void {
    const last = previous && this.#durables.living(previous.session);
    if (present) {
      if (last !== undefined) this.#continue(last);
      return;
    }
    if (last !== undefined) this.#durables.end(last);
    const live = this.#memory.live(session);
    if (expirySeconds > 0 && live !== undefined) this.#durables.save(this.#durables.begin(live));
  }

  #continue(durable: DurableSession): void {
    durable.queue?.rewind();
    this.#durables.save(durable);
  }

  /**
   * Until the disk has the session nobody sees its new connection, so that nothing is sent before CONNACK; a second
   * CONNECT waits for the first. The connection appears in a turn of its own, with the caller next in it: nothing can
   * come between them.
   */
  #attachWhenDurable(key: string, request: OpenSession, opened: OpenedSession): Promise<OpenedSession> {
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
      Promise.resolve(this.#writer.durable(undefined)).then(() => setImmediate(attach), fail);
    });
    this.#opening.set(key, opening);
    return opening;
  }

  #saved<T>(session: SessionRef, answer: T): Awaitable<T> {
    const durable = this.#durables.living(session);
    if (durable === undefined) return answer;
    this.#durables.save(durable);
    return this.#writer.settled(answer);
  }
}
