import {
  type ConnectionId,
  NEVER_EXPIRES,
  type OpenedSession,
  type OpenSession,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
  sessionKey,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import { MemorySession } from './memory-session.ts';

/** Sessions in memory. Every call runs to its end in one turn, so every call is atomic. */
export class MemorySessions implements SessionStore {
  readonly #byKey = new Map<string, MemorySession>();
  /** Ended incarnations whose belongings have not been cleared yet. */
  readonly #ended = new Map<string, MemorySession>();
  #incarnations = 0;

  open(request: OpenSession): OpenedSession {
    const { tenant, clientId, nowMs } = request;
    const found = this.#byKey.get(sessionKey(tenant, clientId));
    const previous = found?.record();
    if (found !== undefined && !request.cleanStart && outlivesConnection(found, nowMs)) {
      attach(found, request);
      return { session: found, present: true, previous };
    }
    if (found !== undefined) this.#end(found);
    const session = this.#begin(request);
    return { session, present: false, previous };
  }

  get(tenant: string, clientId: string): SessionRecord | undefined {
    return this.#byKey.get(sessionKey(tenant, clientId))?.record();
  }

  detach(
    ref: SessionRef,
    connectionId: ConnectionId,
    expirySeconds: number,
    nowMs: number,
  ): SessionRecord | undefined {
    const session = this.live(ref);
    if (session === undefined || session.attachment?.connectionId !== connectionId) return undefined;
    session.attachment = undefined;
    session.state.expirySeconds = expirySeconds;
    session.state.detachedAtMs = nowMs;
    return session.record();
  }

  takeWill(ref: SessionRef, connectionId: ConnectionId): Will | undefined {
    const session = this.live(ref);
    if (session === undefined || session.state.will?.connectionId !== connectionId) return undefined;
    const { will } = session.state.will;
    session.state.will = undefined;
    return will;
  }

  remove(ref: SessionRef, lastConnectionId?: ConnectionId): boolean {
    const session = this.#byKey.get(ref.key);
    if (session === undefined || session.incarnation !== ref.incarnation) return false;
    if (session.attachment !== undefined) return false;
    const { lastConnectionId: last } = session.state;
    if (lastConnectionId !== undefined && lastConnectionId !== last) return false;
    this.#byKey.delete(session.key);
    this.#end(session);
    return true;
  }

  count(): number {
    return this.#byKey.size;
  }

  /**
   * The session that a ref names: nearly always the very object this store handed out, else the original of a copy.
   * Undefined for an ended session that owns nothing any more.
   */
  live(ref: SessionRef): MemorySession | undefined {
    if (ref instanceof MemorySession) return ref;
    const current = this.#byKey.get(ref.key);
    return current?.incarnation === ref.incarnation ? current : this.#ended.get(ref.incarnation);
  }

  /** To be called when something that a session owned has been cleared. */
  cleared(session: MemorySession): void {
    if (session.state.hasEnded && !session.ownsSomething) this.#ended.delete(session.incarnation);
  }

  #begin(request: OpenSession): MemorySession {
    this.#incarnations += 1;
    const session = new MemorySession(
      request.tenant,
      request.clientId,
      this.#incarnations.toString(36),
      request.identity,
    );
    attach(session, request);
    this.#byKey.set(session.key, session);
    return session;
  }

  #end(session: MemorySession): void {
    session.attachment = undefined;
    session.state.hasEnded = true;
    session.state.will = undefined;
    if (session.ownsSomething) this.#ended.set(session.incarnation, session);
  }
}

/** Expiry 0 ends with the connection, whether it is still there or not [MQTT-4.1.0-2]. */
function outlivesConnection({ state }: MemorySession, nowMs: number): boolean {
  const { expirySeconds, detachedAtMs } = state;
  if (expirySeconds === 0) return false;
  if (expirySeconds === NEVER_EXPIRES || detachedAtMs === undefined) return true;
  return nowMs < detachedAtMs + expirySeconds * 1000;
}

function attach(session: MemorySession, { attachment, expirySeconds, identity, will }: OpenSession): void {
  session.attachment = attachment;
  session.state.lastConnectionId = attachment.connectionId;
  session.state.queue?.rewind();
  session.state.expirySeconds = expirySeconds;
  session.state.identity = identity;
  session.state.will = will === undefined ? undefined : { will, connectionId: attachment.connectionId };
  session.state.detachedAtMs = undefined;
}
