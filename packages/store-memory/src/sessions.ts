import {
  type Attachment,
  belongsToAnother,
  type Clock,
  type ConnectionId,
  type DetachSession,
  type EndSession,
  type Identity,
  isSameOwner,
  type MessageId,
  NEVER_EXPIRES,
  type OpenedSession,
  type OpenSession,
  type SessionEnd,
  type SessionMove,
  type SessionRecord,
  type SessionRef,
  type SessionStore,
  sessionKey,
  steadyNow,
  type WillClaim,
} from '@apus/broker';
import { Holdings } from './holdings.ts';
import { type MemoryBudget, sessionBytes, willBytes } from './memory-budget.ts';
import { type HeldWill, MemorySession, type SessionState } from './memory-session.ts';

/** A session without a connection, as a restart finds it. */
export type DetachedSession = Pick<
  SessionState,
  'expirySeconds' | 'identity' | 'bindingRank' | 'attachedAtMs' | 'lastConnectionId'
> & {
  readonly tenant: string;
  readonly clientId: string;
  readonly detachedAtMs: number;
  readonly will: Pick<HeldWill, 'will' | 'due' | 'messageId'> | undefined;
};

/** Sessions in memory. Every call runs to its end in one turn, so every call is atomic. */
export class MemorySessions implements SessionStore {
  /** Counts of what sessions hold, by identity and by tenant. */
  readonly holdings = new Holdings();
  readonly #budget: MemoryBudget;
  readonly #byKey = new Map<string, MemorySession>();
  /** Ended incarnations whose state in other stores has not been cleared yet. */
  readonly #ended = new Map<string, MemorySession>();
  /** Wills whose connection is not the last of its session any more, or whose session was removed. */
  readonly #owedWills = new Map<ConnectionId, HeldWill>();
  #incarnations = 0;
  readonly #clock: Clock | undefined;

  /** @param clock that of the callers. @default time passes as they say */
  constructor(budget: MemoryBudget, clock?: Clock) {
    this.#budget = budget;
    this.#clock = clock;
  }

  open(request: OpenSession): OpenedSession | 'owned-by-another' {
    const { tenant, clientId } = request;
    const found = this.#byKey.get(sessionKey(tenant, clientId));
    if (request.resumes !== undefined) return this.#resume(found, request);
    if (found === undefined)
      return { session: this.#begin(request), present: false, previous: undefined, owedWillOf: undefined };
    const previous = found.record();
    const nowMs = this.#nowFor(found, request.nowMs);
    const outlives = outlivesConnection(found, nowMs);
    if (belongsToAnother(previous, request, found.attachment !== undefined || outlives))
      return 'owned-by-another';
    const isOwn = isSameOwner(previous.identity, request.identity);
    const present = !request.cleanStart && isOwn && outlives;
    const owedWillOf = this.#keepOwedWill(found, (held) => isOwed(held, request, previous, present, nowMs));
    if (present) {
      this.#attach(found, request);
      return { session: found, present, previous, owedWillOf };
    }
    this.#end(found);
    return { session: this.#begin(request), present, previous, owedWillOf };
  }

  #resume(found: MemorySession | undefined, request: OpenSession): OpenedSession | 'owned-by-another' {
    const { resumes } = request;
    const isThat =
      found !== undefined &&
      found.incarnation === resumes?.incarnation &&
      found.state.lastConnectionId === resumes.from &&
      found.attachment === undefined &&
      isSameOwner(found.state.identity, request.identity);
    if (!isThat) return 'owned-by-another';
    const { resumableUntilMs = 0 } = found.state;
    const nowMs = this.#nowFor(found, request.nowMs);
    if (!outlivesConnection(found, nowMs) && resumableUntilMs <= nowMs) return 'owned-by-another';
    const previous = found.record();
    const owedWillOf = this.#keepOwedWill(found, (held) => isOwed(held, request, previous, true, nowMs));
    this.#attach(found, request);
    return { session: found, present: true, previous, owedWillOf };
  }

  get(tenant: string, clientId: string): SessionRecord | undefined {
    return this.#byKey.get(sessionKey(tenant, clientId))?.record();
  }

  detach(request: DetachSession): SessionRecord | undefined {
    const { connectionId, expirySeconds, resumableUntilMs, nowMs, will } = request;
    const session = this.live(request.session);
    if (session === undefined || session.attachment?.connectionId !== connectionId) return undefined;
    const { state } = session;
    session.attachment = undefined;
    this.#setConnected(session, false);
    state.expirySeconds = expirySeconds;
    state.detachedAtMs = nowMs;
    state.detachedSteadyMs = this.#steadyOf(nowMs);
    state.resumableUntilMs = resumableUntilMs;
    if (will === 'discarded') this.#setWill(session, undefined);
    else if (state.will !== undefined) state.will.due = will;
    return session.record();
  }

  end({ session, connectionId, nowMs }: EndSession): SessionEnd {
    const left = this.detach({ session, connectionId, expirySeconds: 0, nowMs, will: 'discarded' });
    if (left === undefined) return 'not-owned';
    this.remove(session, connectionId);
    return 'ended';
  }

  renew(
    ref: SessionRef,
    attachment: Attachment,
    identity: Identity,
    move?: SessionMove,
  ): SessionRef | undefined {
    const session = this.live(ref);
    const present = session?.attachment?.connectionId;
    const { connectionId } = attachment;
    if (session === undefined || present === undefined) return undefined;
    if (present !== connectionId && present !== move?.from) return undefined;
    const { state } = session;
    session.attachment = attachment;
    this.#setIdentity(session, identity);
    if (state.will !== undefined) state.will = { ...state.will, identity, connectionId };
    if (present === connectionId || move === undefined) return session;
    state.lastConnectionId = connectionId;
    state.attachedAtMs = move.nowMs;
    return session;
  }

  noteReplays(ref: SessionRef, connectionId: ConnectionId, topicFilters: readonly string[]): void {
    const state = this.live(ref)?.state;
    if (state?.lastConnectionId !== connectionId || state.hasEnded) return;
    state.replays = topicFilters.length === 0 ? undefined : topicFilters;
  }

  beginWill(ref: SessionRef, connectionId: ConnectionId, messageId: MessageId, nowMs: number): WillClaim {
    const held = this.willOf(ref, connectionId);
    // An owed will is due now. Any other has no time while its connection is there.
    const dueAtMs = this.#owedWills.has(connectionId) ? 0 : held?.due?.atMs;
    if (held === undefined || dueAtMs === undefined) return { state: 'none' };
    if (dueAtMs > nowMs) return { state: 'not-due', dueAtMs };
    const isRepeat = held.messageId !== undefined;
    held.messageId ??= messageId;
    const { will, identity } = held;
    return { state: 'begun', will, identity, messageId: held.messageId, isRepeat };
  }

  doneWill(ref: SessionRef, connectionId: ConnectionId): void {
    if (this.willOf(ref, connectionId)?.messageId !== undefined) this.#forgetWill(ref, connectionId);
  }

  discardWill(ref: SessionRef, connectionId: ConnectionId): void {
    if (this.willOf(ref, connectionId)?.messageId === undefined) this.#forgetWill(ref, connectionId);
  }

  /** The will of a connection, while it may still be published. */
  willOf({ key }: SessionRef, connectionId: ConnectionId): HeldWill | undefined {
    const last = this.#byKey.get(key)?.state.will;
    return last?.connectionId === connectionId ? last : this.#owedWills.get(connectionId);
  }

  /** Adds a session that is away, as a restart has found it, in one step: a wake-up of an object waits for all of them. */
  restoreDetached(found: DetachedSession): MemorySession {
    const { tenant, clientId, identity, will, detachedAtMs, lastConnectionId: connectionId } = found;
    const before = this.#byKey.get(sessionKey(tenant, clientId));
    if (before !== undefined) this.#end(before);
    const session = this.#add(tenant, clientId, identity);
    this.#budget.planned(identity);
    const { state } = session;
    state.expirySeconds = found.expirySeconds;
    state.bindingRank = found.bindingRank;
    state.lastConnectionId = connectionId;
    state.attachedAtMs = found.attachedAtMs;
    state.detachedAtMs = detachedAtMs;
    state.detachedSteadyMs = this.#steadyOf(detachedAtMs);
    if (will !== undefined) this.#setWill(session, { ...will, identity, connectionId });
    return session;
  }

  /** An owed will that was found after a restart. */
  restoreOwedWill(held: HeldWill): void {
    this.#owe(held);
  }

  remove(ref: SessionRef, lastConnectionId?: ConnectionId): boolean {
    const session = this.#byKey.get(ref.key);
    if (session === undefined || session.incarnation !== ref.incarnation) return false;
    if (session.attachment !== undefined) return false;
    const { lastConnectionId: last } = session.state;
    if (lastConnectionId !== undefined && lastConnectionId !== last) return false;
    this.#keepOwedWill(session, ({ messageId }) => messageId !== undefined);
    this.#byKey.delete(session.key);
    this.#end(session);
    return true;
  }

  count(): number {
    return this.#byKey.size;
  }

  /** Every session, connected or not. One that is opened or removed meanwhile may be among them or not. */
  *all(): Generator<SessionRecord, void, undefined> {
    for (const session of this.#byKey.values()) yield session.record();
  }

  /**
   * The session that a ref names: nearly always the object itself, otherwise the original of a copy. Undefined: the
   * session has ended and owns nothing any more.
   */
  live(ref: SessionRef): MemorySession | undefined {
    if (ref instanceof MemorySession) return ref;
    const current = this.#byKey.get(ref.key);
    return current?.incarnation === ref.incarnation ? current : this.#ended.get(ref.incarnation);
  }

  /** Called when something that a session owned has been cleared. */
  cleared(session: MemorySession): void {
    if (session.state.hasEnded && !session.ownsSomething) this.#ended.delete(session.incarnation);
  }

  #begin(request: OpenSession): MemorySession {
    const session = this.#add(request.tenant, request.clientId, request.identity);
    this.#attach(session, request);
    return session;
  }

  #add(tenant: string, clientId: string, identity: Identity): MemorySession {
    this.#incarnations += 1;
    const holding = this.holdings.of(identity, clientId);
    const session = new MemorySession(tenant, clientId, this.#incarnations.toString(36), identity, holding);
    holding.change('sessions', 1);
    this.#budget.change(sessionBytes(session, identity));
    this.#byKey.set(session.key, session);
    return session;
  }

  /** The time since the session lost its connection, on top of the wall clock's time of then: its steps do not count. */
  #nowFor({ state }: MemorySession, nowMs: number): number {
    const { detachedAtMs, detachedSteadyMs } = state;
    return detachedAtMs === undefined ? nowMs : detachedAtMs + this.#steadyOf(nowMs) - detachedSteadyMs;
  }

  #steadyOf(wallMs: number): number {
    // Without a clock of its own the steady time is the wall clock's.
    if (this.#clock?.steady === undefined) return wallMs;
    return steadyNow(this.#clock) + wallMs - this.#clock.now();
  }

  #attach(session: MemorySession, request: OpenSession): void {
    const { attachment, expirySeconds, identity, bindingRank, will, nowMs } = request;
    const { connectionId } = attachment;
    const { state } = session;
    session.attachment = attachment;
    this.#budget.planned(identity);
    this.#holdFor(session, identity);
    this.#setConnected(session, true);
    state.lastConnectionId = connectionId;
    state.queue?.rewind();
    state.expirySeconds = expirySeconds;
    this.#setIdentity(session, identity);
    state.bindingRank = bindingRank;
    this.#setWill(session, will && { will, identity, connectionId, due: undefined, messageId: undefined });
    state.attachedAtMs = nowMs;
    state.detachedAtMs = undefined;
    state.resumableUntilMs = undefined;
  }

  /** Keeps an owed will beyond its session's next open or end. Returns the connection that it belongs to. */
  #keepOwedWill(session: MemorySession, isOwed: (held: HeldWill) => boolean): ConnectionId | undefined {
    const held = session.state.will;
    if (held === undefined || !isOwed(held)) return undefined;
    this.#setWill(session, undefined);
    this.#owe(held);
    return held.connectionId;
  }

  #forgetWill({ key }: SessionRef, connectionId: ConnectionId): void {
    const session = this.#byKey.get(key);
    if (session?.state.will?.connectionId === connectionId) {
      this.#setWill(session, undefined);
      return;
    }
    const owed = this.#owedWills.get(connectionId);
    if (owed !== undefined) this.#budget.change(-willBytes(owed.will));
    this.#owedWills.delete(connectionId);
  }

  #owe(held: HeldWill): void {
    this.#budget.change(willBytes(held.will));
    this.#owedWills.set(held.connectionId, held);
  }

  #setIdentity(session: MemorySession, identity: Identity): void {
    const { state } = session;
    if (state.identity === identity) return;
    this.#budget.planned(identity);
    this.#budget.change(sessionBytes(session, identity) - sessionBytes(session, state.identity));
    state.identity = identity;
  }

  #setWill({ state }: MemorySession, held: HeldWill | undefined): void {
    if (state.will !== undefined) this.#budget.change(-willBytes(state.will.will));
    if (held !== undefined) this.#budget.change(willBytes(held.will));
    state.will = held;
  }

  /** An anonymous client may come back from another address: its session is counted there from now on. */
  #holdFor(session: MemorySession, identity: Identity): void {
    const { state, clientId } = session;
    const before = state.holding;
    const holding = this.holdings.of(identity, clientId);
    if (holding === before) return;
    this.#setConnected(session, false);
    const subscriptions = state.subscriptions?.weight ?? 0;
    state.holding = holding;
    holding.change('sessions', 1);
    holding.change('subscriptions', subscriptions);
    before.change('subscriptions', -subscriptions);
    before.change('sessions', -1);
  }

  #setConnected({ state }: MemorySession, isConnected: boolean): void {
    if (state.isConnected === isConnected) return;
    state.isConnected = isConnected;
    state.holding.change('connections', isConnected ? 1 : -1);
  }

  #end(session: MemorySession): void {
    session.attachment = undefined;
    this.#setConnected(session, false);
    session.state.holding.change('sessions', -1);
    session.state.hasEnded = true;
    this.#setWill(session, undefined);
    this.#budget.change(-sessionBytes(session, session.state.identity));
    if (session.ownsSomething) this.#ended.set(session.incarnation, session);
  }
}

/** A will that has been begun is finished. */
function isOwed(
  { messageId }: HeldWill,
  request: OpenSession,
  previous: SessionRecord,
  present: boolean,
  nowMs: number,
): boolean {
  return messageId !== undefined || request.isWillOwed(previous, present, nowMs);
}

/** Expiry 0 ends with the connection, even while that is still there [MQTT-4.1.0-2]. */
function outlivesConnection({ state }: MemorySession, nowMs: number): boolean {
  const { expirySeconds, detachedAtMs } = state;
  if (expirySeconds === 0) return false;
  if (expirySeconds === NEVER_EXPIRES || detachedAtMs === undefined) return true;
  return nowMs < detachedAtMs + expirySeconds * 1000;
}
