import {
  type Attachment,
  BindingRank,
  type ConnectionId,
  type Identity,
  type MessageId,
  type SessionRecord,
  type SessionRef,
  sessionKey,
  type WillDue,
} from '@apus/broker';
import type { Will } from '@apus/mqtt';
import type { HeldSubscriptions } from './held-subscriptions.ts';
import type { Holding } from './holdings.ts';
import type { Receipt } from './received.ts';
import type { SessionQueue } from './session-queue.ts';

/** The will that a connection brought. */
export interface HeldWill {
  readonly will: Will;
  /** The identity of that connection. */
  readonly identity: Identity;
  readonly connectionId: ConnectionId;
  /** Set when the connection has ended. */
  due: WillDue | undefined;
  /** Set when the will has been begun. */
  messageId: MessageId | undefined;
}

/** The state of a session beside its name. An idle session has none of the optional parts. */
export interface SessionState {
  expirySeconds: number;
  identity: Identity;
  /** The holding that counts it. */
  holding: Holding;
  /** Counted as a connection, also while a store withholds its attachment. */
  isConnected: boolean;
  /** Undefined: stored before sessions had owners. */
  bindingRank: BindingRank;
  /** The will of the last connection. */
  will: HeldWill | undefined;
  attachedAtMs: number;
  detachedAtMs: number | undefined;
  /** The same by the clock without steps. Not stored. */
  detachedSteadyMs: number;
  resumableUntilMs: number | undefined;
  /** See `SessionStore.noteReplays`. */
  replays: readonly string[] | undefined;
  lastConnectionId: ConnectionId;
  /** Removed, or replaced by a newer incarnation. It takes no connection and no subscription any more. */
  hasEnded: boolean;
  queue: SessionQueue | undefined;
  subscriptions: HeldSubscriptions | undefined;
  received: Map<number, Receipt> | undefined;
}

/**
 * One incarnation of a session, and the `SessionRef` for it that every port returns. It is live: `attachment` is the
 * present connection, so a subscriber that a match finds needs no look-up before it is sent to.
 *
 * The state is on the object and not in maps by key: a fan-out finds a subscriber's queue by following two pointers,
 * and the state is freed with the session. It is private, so that a log line or an assertion sees no more than a
 * `SessionRef`.
 */
export class MemorySession implements SessionRef {
  readonly key: string;
  readonly tenant: string;
  readonly clientId: string;
  readonly incarnation: string;
  attachment: Attachment | undefined;
  readonly #state: SessionState;

  constructor(tenant: string, clientId: string, incarnation: string, identity: Identity, holding: Holding) {
    this.key = sessionKey(tenant, clientId);
    this.tenant = tenant;
    this.clientId = clientId;
    this.incarnation = incarnation;
    this.attachment = undefined;
    this.#state = {
      expirySeconds: 0,
      identity,
      holding,
      isConnected: false,
      bindingRank: BindingRank.None,
      will: undefined,
      attachedAtMs: 0,
      detachedAtMs: undefined,
      detachedSteadyMs: 0,
      resumableUntilMs: undefined,
      replays: undefined,
      lastConnectionId: '',
      hasEnded: false,
      queue: undefined,
      subscriptions: undefined,
      received: undefined,
    };
  }

  get state(): SessionState {
    return this.#state;
  }

  get ownsSomething(): boolean {
    const { queue, subscriptions, received } = this.#state;
    return queue !== undefined || subscriptions !== undefined || received !== undefined;
  }

  record(): SessionRecord {
    const { lastConnectionId, attachedAtMs, expirySeconds, identity, bindingRank, will, detachedAtMs } =
      this.#state;
    return {
      session: this,
      attachment: this.attachment,
      lastConnectionId,
      attachedAtMs,
      expirySeconds,
      identity,
      bindingRank,
      will: will?.will,
      willDue: will?.due,
      detachedAtMs,
      resumableUntilMs: this.#state.resumableUntilMs,
      replays: this.#state.replays,
    };
  }
}
