import type { SessionRef } from '@apus/broker';
import type { MemoryStores } from '@apus/store-memory';
import { sessionCodec } from './codec.ts';
import { DurableQueue } from './durable-queue.ts';
import { HeldMessages } from './held-messages.ts';
import { passingNumber, plainNumber, receiptKey, sessionRecordKey, subscriptionKey } from './keys.ts';
import { Numbers } from './numbers.ts';
import { OwedWills } from './owed-wills.ts';
import { QueueJournal, type QueueJournalContext } from './queue-journal.ts';
import type { RepeatableFanOuts } from './repeatable-fan-outs.ts';
import { SharedMessages } from './shared-messages.ts';
import type { Writer } from './writer.ts';

/** A session as the memory store holds it. */
export type LiveSession = NonNullable<ReturnType<MemoryStores['sessions']['live']>>;

/** One session that outlives its connection. */
export interface DurableSession {
  /** Its name in keys; never used again. */
  readonly number: number;
  readonly live: LiveSession;
  /** Its records have been removed. Its state stays in memory until it is cleared. */
  hasEnded: boolean;
  /** Made with its queue. */
  journal: QueueJournal | undefined;
  /**
   * The writer's position when messages that wait for the disk were last returned: later messages must not leave
   * earlier.
   */
  sentPosition: number;
  /** Made when its first QoS 1 or 2 message comes. */
  queue: DurableQueue | undefined;
}

/** Which sessions are on the disk. One with expiry 0 ends with its connection, and is only where all are written. */
export class DurableSessions {
  readonly sharedMessages: SharedMessages;
  readonly owedWills: OwedWills;
  readonly heldMessages: HeldMessages;
  readonly #memory: MemoryStores;
  readonly #writer: Writer;
  readonly #repeatable: RepeatableFanOuts;
  readonly #numbers: Numbers;
  readonly #journalContext: QueueJournalContext;
  readonly #byIncarnation = new Map<string, DurableSession>();

  constructor(memory: MemoryStores, writer: Writer, repeatable: RepeatableFanOuts, numbers = new Numbers()) {
    this.#memory = memory;
    this.#writer = writer;
    this.#repeatable = repeatable;
    this.#numbers = numbers;
    this.heldMessages = new HeldMessages(memory.memory);
    this.sharedMessages = new SharedMessages(writer, () => numbers.next());
    this.owedWills = new OwedWills(writer, () => numbers.next());
    this.#journalContext = {
      ...{ writer, repeatable, messages: this.sharedMessages, held: this.heldMessages },
      nextNumber: () => numbers.next(),
    };
  }

  /** Finds a session, even if it has ended and has not been cleared. */
  find(ref: Pick<SessionRef, 'incarnation'>): DurableSession | undefined {
    return this.#byIncarnation.get(ref.incarnation);
  }

  /** Finds a session whose changes have to be written. */
  living(ref: SessionRef): DurableSession | undefined {
    const found = this.find(ref);
    return found?.hasEnded ? undefined : found;
  }

  begin(live: LiveSession): DurableSession {
    const number = this.#numbers.next();
    return this.#add(live, live.state.expirySeconds === 0 ? passingNumber(number) : number);
  }

  restore(live: LiveSession, number: number): DurableSession {
    this.observe(number);
    return this.#add(live, number);
  }

  /** Notes a number that is in use on the disk. */
  observe(number: number): void {
    this.#numbers.observe(plainNumber(number));
  }

  queueOf(durable: DurableSession): DurableQueue {
    durable.journal ??= new QueueJournal(durable.number, durable.live, this.#journalContext);
    durable.queue ??= new DurableQueue(durable.journal);
    return durable.queue;
  }

  /** Writes the session's own record as it stands. */
  save({ number, live }: DurableSession): void {
    const { tenant, clientId, state } = live;
    const { expirySeconds, identity, bindingRank, will, replays } = state;
    const { attachedAtMs, detachedAtMs, lastConnectionId } = state;
    const record = {
      tenant,
      clientId,
      expirySeconds,
      identity,
      will: will?.will,
      detachedAtMs,
      connectionId: lastConnectionId,
      attachedAtMs,
      willDue: will?.due,
      willMessageId: will?.messageId,
      bindingRank,
      replays,
    };
    this.#writer.put(sessionRecordKey(number), sessionCodec.encode(record));
  }

  /** The session is over: removes its records. The caller clears its state in memory. */
  end(durable: DurableSession): void {
    const { number, live } = durable;
    // The session's record first: if a crash follows, the next start removes records without one.
    this.#writer.remove(sessionRecordKey(number));
    for (const name of this.#memory.subscriptions.list(live)) {
      this.#writer.remove(subscriptionKey(number, name));
    }
    this.eraseReceipts(durable);
    durable.queue?.erase();
    durable.journal?.close();
    durable.hasEnded = true;
    if (durable.queue === undefined) this.forget(durable);
  }

  eraseReceipts({ number, live }: DurableSession): void {
    for (const [packetId, { messageId }] of live.state.received ?? []) {
      this.#writer.remove(receiptKey(number, packetId));
      this.#repeatable.end(messageId);
    }
  }

  /** The ended session is not asked for any more. */
  forget({ live, hasEnded }: DurableSession): void {
    if (hasEnded) this.#byIncarnation.delete(live.incarnation);
  }

  #add(live: LiveSession, number: number): DurableSession {
    const sentPosition = this.#writer.position;
    const durable: DurableSession = {
      number,
      live,
      hasEnded: false,
      journal: undefined,
      sentPosition,
      queue: undefined,
    };
    this.#byIncarnation.set(live.incarnation, durable);
    return durable;
  }
}
