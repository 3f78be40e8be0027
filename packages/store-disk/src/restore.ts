import {
  type Attachment,
  type Clock,
  type ConnectionId,
  isExpired,
  type Message,
  type MessageId,
  type Queued,
  type SessionRef,
  sessionKey,
  type WillDue,
} from '@apus/broker';
import type { PacketId, Will } from '@apus/mqtt';
import type { MemoryStores, WindowProgress } from '@apus/store-memory';
import {
  completedCopyCodec,
  messageCodec,
  owedWillCodec,
  queuedCodec,
  receiptCodec,
  retainedCodec,
  type StoredInflight,
  type StoredOwedWill,
  type StoredSession,
  sessionCodec,
  subscriptionCodec,
} from './codec.ts';
import { type DueTimer, dueTimersOf } from './due-timers.ts';
import type { DurableSession, DurableSessions, LiveSession } from './durable-sessions.ts';
import type { JournalContent } from './journal.ts';
import { firstNumberOf, inflightKey, Kind, secondNumberOf } from './keys.ts';
import type { Place } from './queue-journal.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { StoredMarks } from './stored-marks.ts';
import type { Writer } from './writer.ts';

export interface Restored {
  readonly dueTimers: readonly DueTimer[];
  readonly lastMessageId: MessageId | undefined;
  /** Some of the subscriptions have conditions. */
  readonly hasConditions: boolean;
  /** Sessions that were found. */
  readonly sessions: readonly SessionRef[];
  /** Copies of QoS 2 messages in their queues. */
  readonly exactlyOnce: readonly { readonly session: SessionRef; readonly messageId: MessageId }[];
}

/** Existing state is kept, even beyond the present limits. */
const UNLIMITED = { messagesMax: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };

/** A connection that has outlived the memory of the process. */
export interface LivingConnection {
  readonly attachment: Attachment;
  /** Undefined: nothing was inflight. */
  readonly progress: WindowProgress | undefined;
}

/** Finds a connection that is still there. */
export type FindLiving = (connectionId: ConnectionId) => LivingConnection | undefined;

/** The context of a restart. */
export interface RestoreContext {
  readonly content: JournalContent;
  readonly memory: MemoryStores;
  readonly durables: DurableSessions;
  readonly repeatable: RepeatableFanOuts;
  readonly writer: Writer;
  readonly clock: Clock;
  readonly willGraceSeconds: number;
  /** @default the restart has cut every connection */
  readonly living?: FindLiving | undefined;
}

/**
 * Reads everything from the disk into memory, and deletes what belongs to no session any more.
 *
 * @throws {DataDirectoryError} if something cannot be read; then nothing is written
 */
export function restore(context: RestoreContext): Restored {
  return new Restore(context).run();
}

class Restore {
  readonly #context: RestoreContext;
  readonly #sessions = new Map<number, DurableSession>();
  readonly #messages = new Map<number, Message>();
  readonly #timers: DueTimer[] = [];
  readonly #exactlyOnce: { session: SessionRef; messageId: MessageId }[] = [];
  /** Asked once: a runtime may take a microsecond for it. */
  readonly #nowMs: number;
  #lastMessageId: MessageId | undefined;
  #hasConditions = false;

  constructor(context: RestoreContext) {
    this.#context = context;
    this.#nowMs = context.clock.now();
  }

  run(): Restored {
    try {
      return this.#run();
    } catch (error) {
      this.#context.writer.abandon();
      throw this.#context.content.damage('what it holds', error);
    }
  }

  #run(): Restored {
    this.#eachOf(Kind.Session, (number, bytes) => this.#session(number, sessionCodec.decode(bytes)));
    this.#eachOf(Kind.OwedWill, (number, bytes) => this.#owedWill(number, owedWillCodec.decode(bytes)));
    this.#eachOf(Kind.Subscription, (number, bytes) => this.#subscription(number, bytes));
    // Receipts before queues: a pending receipt has to know which sessions have the message.
    this.#eachOf(Kind.Receipt, (number, bytes, key) => this.#receipt(number, bytes, secondNumberOf(key)));
    this.#eachOf(Kind.CompletedCopy, (number, bytes, key) => this.#completedCopy(number, bytes, key));
    this.#eachOf(Kind.SharedMessage, (number, bytes) => this.#sharedMessage(number, bytes));
    this.#queues();
    this.#goOn();
    this.#unreferredMessages();
    this.#eachOf(Kind.Retained, (_, bytes) => this.#retained(bytes));
    const sessions = Array.from(this.#sessions.values(), ({ live }) => live);
    return {
      dueTimers: this.#timers,
      lastMessageId: this.#lastMessageId,
      hasConditions: this.#hasConditions,
      sessions,
      exactlyOnce: this.#exactlyOnce,
    };
  }

  /**
   * Removes a record if `restored` returns false: its session has ended, and a crash has interrupted the deletion.
   */
  #eachOf(kind: Kind, restored: (number: number, bytes: Uint8Array, key: string) => boolean): void {
    for (const [key, bytes] of this.#context.content.scan(kind)) {
      try {
        if (!restored(firstNumberOf(key), bytes, key)) this.#context.writer.remove(key);
      } catch (error) {
        // Every error while a record is read is due to its content.
        throw this.#context.content.damage(`the record ${key}`, error);
      }
    }
  }

  #session(number: number, stored: StoredSession): boolean {
    const living = stored.detachedAtMs === undefined ? this.#living(stored.connectionId) : undefined;
    if (living !== undefined) return this.#attached(number, stored, living);
    const nowMs = this.#nowMs;
    // Where the wall clock has gone back, its client has been away since now: no time is left out, and none lasts longer.
    const detachedAtMs = Math.min(stored.detachedAtMs ?? nowMs, nowMs);
    const live = this.#detached(stored, detachedAtMs);
    const durable = this.#add(number, live);
    // A connection that a crash has cut is lost from now on, and a second crash does not change that.
    if (stored.detachedAtMs !== detachedAtMs) this.#context.durables.save(durable);
    this.#timers.push(...dueTimersOf(live));
    if (stored.willMessageId !== undefined) this.#begunWill(stored.willMessageId);
    return true;
  }

  #living(connectionId: ConnectionId): LivingConnection | undefined {
    return this.#context.living?.(connectionId);
  }

  /** Its client has noticed nothing. */
  #attached(number: number, stored: StoredSession, { attachment }: LivingConnection): boolean {
    const live = this.#open(stored, attachment, stored.attachedAtMs ?? this.#nowMs);
    if (live !== undefined) this.#add(number, live);
    return live !== undefined;
  }

  #add(number: number, live: LiveSession): DurableSession {
    const durable = this.#context.durables.restore(live, number);
    this.#sessions.set(number, durable);
    return durable;
  }

  #detached(stored: StoredSession, detachedAtMs: number): LiveSession {
    const { tenant, clientId, expirySeconds, identity, bindingRank, will, willMessageId: messageId } = stored;
    const attachedAtMs = stored.attachedAtMs ?? detachedAtMs;
    const live = this.#context.memory.sessions.restoreDetached({
      ...{ tenant, clientId, expirySeconds, identity, bindingRank, attachedAtMs, detachedAtMs },
      lastConnectionId: stored.connectionId,
      will: will && { will, due: this.#willDue(stored, will, detachedAtMs), messageId },
    });
    live.state.replays = stored.replays;
    return live;
  }

  #open(stored: StoredSession, attachment: Attachment, nowMs: number): LiveSession | undefined {
    const { tenant, clientId, expirySeconds, identity, bindingRank, will } = stored;
    const { sessions } = this.#context.memory;
    const opened = sessions.open({
      ...{ tenant, clientId, expirySeconds, attachment, identity, bindingRank, will, nowMs },
      cleanStart: true,
      isWillOwed: () => false,
    });
    const live = opened === 'owned-by-another' ? undefined : sessions.live(opened.session);
    if (live !== undefined) live.state.replays = stored.replays;
    return live;
  }

  /** Every queue of a living connection has its messages: those that were sent are not sent again. */
  #goOn(): void {
    for (const { live, queue } of this.#sessions.values()) {
      const living = live.attachment && this.#living(live.attachment.connectionId);
      if (living?.progress !== undefined) queue?.goOn(living.progress);
    }
  }

  /** Not right after the start: while the broker was down no client could come back in time. */
  #willDue(stored: StoredSession, will: Will, detachedAtMs: number): WillDue {
    const { willDue, expirySeconds } = stored;
    const delaySeconds = Math.min(will.properties.willDelayInterval ?? 0, expirySeconds);
    const delayMs = willDue === undefined ? delaySeconds * 1000 : willDue.atMs - (stored.detachedAtMs ?? 0);
    const atMs = detachedAtMs + delayMs;
    const isNoted = this.#isWakeUp && willDue !== undefined;
    return {
      atMs: isNoted ? atMs : Math.max(atMs, this.#willsFromMs),
      isWithdrawnByReturn: willDue?.isWithdrawnByReturn ?? false,
    };
  }

  /** Clients could come back at any time: only a connection that was cut with the memory gets a grace. */
  get #isWakeUp(): boolean {
    return this.#context.living !== undefined;
  }

  get #willsFromMs(): number {
    return this.#nowMs + this.#context.willGraceSeconds * 1000;
  }

  #owedWill(number: number, stored: StoredOwedWill): boolean {
    const { tenant, clientId, connectionId, will, messageId } = stored;
    // An unknown client: it may do nothing.
    const identity = stored.identity ?? { tenant, name: '', rules: [] };
    const { durables, memory } = this.#context;
    durables.observe(number);
    durables.owedWills.restore(number, stored);
    if (messageId === undefined && this.#living(connectionId) !== undefined) return true;
    memory.sessions.restoreOwedWill({ will, identity, connectionId, due: undefined, messageId });
    const key = sessionKey(tenant, clientId);
    const session = { key, tenant, clientId, incarnation: '', attachment: undefined };
    const dueAtMs = stored.dueAtMs ?? this.#willsFromMs;
    this.#timers.push({ timer: { kind: 'will', session, connectionId }, dueAtMs });
    if (this.#isWakeUp && stored.dueAtMs === undefined) durables.owedWills.noteDue(number, stored, dueAtMs);
    if (messageId !== undefined) this.#begunWill(messageId);
    return true;
  }

  /** The will is published again, to sessions that do not have it. */
  #begunWill(messageId: MessageId): void {
    this.#context.repeatable.begin(messageId);
    this.#observe(messageId);
  }

  #subscription(number: number, bytes: Uint8Array): boolean {
    const durable = this.#sessions.get(number);
    if (durable === undefined) return false;
    const subscription = subscriptionCodec.decode(bytes);
    if (subscription.where !== undefined) this.#hasConditions = true;
    this.#context.memory.subscriptions.put(durable.live, [subscription], Number.POSITIVE_INFINITY);
    return true;
  }

  #receipt(number: number, bytes: Uint8Array, packetId: PacketId): boolean {
    const durable = this.#sessions.get(number);
    if (durable === undefined) return false;
    const { received } = this.#context.memory;
    const { messageId, isDelivered } = receiptCodec.decode(bytes);
    received.begin(durable.live, packetId, messageId, Number.POSITIVE_INFINITY);
    if (isDelivered) received.markDelivered(durable.live, packetId);
    else this.#context.repeatable.begin(messageId);
    this.#observe(messageId);
    return true;
  }

  #completedCopy(number: number, bytes: Uint8Array, key: string): boolean {
    this.#context.durables.observe(secondNumberOf(key));
    const incarnation = this.#sessions.get(number)?.live.incarnation;
    return this.#context.repeatable.restoreCompleted(key, completedCopyCodec.decode(bytes), incarnation);
  }

  #sharedMessage(number: number, bytes: Uint8Array): boolean {
    this.#context.durables.observe(number);
    this.#messages.set(number, messageCodec.decode(bytes));
    return true;
  }

  /** Reads messages and the marks beside them side by side, both in the order of sessions and numbers. */
  #queues(): void {
    const marks = new StoredMarks(this.#context.content);
    this.#eachOf(Kind.Queued, (number, bytes, key) => {
      for (const [before, mark] of marks.before(key)) this.#released(before, mark);
      return this.#queued(number, secondNumberOf(key), bytes, marks.of(key));
    });
    for (const [before, mark] of marks.before(undefined)) this.#released(before, mark);
  }

  #queued(session: number, number: number, bytes: Uint8Array, mark: StoredInflight | undefined): boolean {
    this.#context.durables.observe(number);
    const durable = this.#sessions.get(session);
    if (mark?.isReleased) {
      this.#released(inflightKey(session, number), mark);
      return false;
    }
    const { delivery: stored, message: messageOrNumber, reservedId } = queuedCodec.decode(bytes);
    const isShared = typeof messageOrNumber === 'number';
    const message = isShared ? this.#messages.get(messageOrNumber) : messageOrNumber;
    if (durable === undefined || message === undefined) return false;
    if (isShared) this.#context.durables.sharedMessages.restore(message, messageOrNumber);
    const packetId = mark?.packetId ?? stored.packetId;
    const delivery = { ...stored, session: durable.live, packetId, dup: false };
    const place = { number, isShared, reservedId, isMarked: mark !== undefined, position: 0 };
    this.#enqueue(durable, { type: 'publish', message, delivery }, place);
    this.#context.repeatable.restore(message.id, delivery);
    if (delivery.qos === 2) this.#exactlyOnce.push({ session: durable.live, messageId: message.id });
    this.#observe(message.id);
    return true;
  }

  /** A mark without a message: PUBREC has come. */
  #released(key: string, { packetId, isReleased }: StoredInflight): void {
    const number = secondNumberOf(key);
    this.#context.durables.observe(number);
    const durable = this.#sessions.get(firstNumberOf(key));
    if (durable === undefined || !isReleased) this.#context.writer.remove(key);
    else
      this.#enqueue(
        durable,
        { type: 'pubrel', packetId },
        { number, isShared: false, reservedId: 0, isMarked: true, position: 0 },
      );
  }

  #enqueue(durable: DurableSession, queued: Queued, place: Place): void {
    this.#context.durables.queueOf(durable).restore(queued, place);
  }

  #unreferredMessages(): void {
    const { durables } = this.#context;
    for (const [number, message] of this.#messages) durables.sharedMessages.removeUnreferred(message, number);
  }

  #retained(bytes: Uint8Array): boolean {
    const { memory } = this.#context;
    const { tenant, message, holder } = retainedCodec.decode(bytes);
    this.#observe(message.id);
    if (isExpired(message, this.#nowMs)) return false;
    return memory.retained.put(tenant, message, { ...UNLIMITED, holder: holder && { holder, ...UNLIMITED } });
  }

  #observe(id: MessageId): void {
    if (this.#lastMessageId === undefined || id > this.#lastMessageId) this.#lastMessageId = id;
  }
}
