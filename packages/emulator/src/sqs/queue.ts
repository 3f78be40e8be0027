import { uuid } from '../ids.ts';
import { Deduplication, type Sent } from './deduplication.ts';
import { internalError, overLimit } from './errors.ts';
import { FifoLine } from './fifo-line.ts';
import type { Line, Verdict } from './line.ts';
import type { MessageDraft, MessageState, QueuedMessage } from './message.ts';
import type { QueueParts } from './queue-parts.ts';
import { newReceipt } from './receipt.ts';
import { StandardLine } from './standard-line.ts';

/** Digits of a sequence number, as AWS writes them: equally long, so that they also sort as text. */
const SEQUENCE_DIGITS = 20;
const REDELIVER_DELAY_MS = { minMs: 0, maxMs: 60_000 };

export interface Receive {
  readonly messagesMax: number;
  /** @default the queue's */
  readonly visibilityTimeoutSeconds?: number | undefined;
  /** Of bodies and attributes together; at least one message comes in any case. @default no limit */
  readonly bytesMax?: number;
  /** Whether a full house of messages in flight is an error, as it is to a short poll on a standard queue. */
  readonly failsOverLimit?: boolean;
}

export interface Depth {
  readonly available: number;
  readonly delayed: number;
  readonly inFlight: number;
}

/** One queue: what it holds, in which state, and for how long. It knows nothing of protocols. */
export class Queue {
  readonly #parts: QueueParts;
  readonly #line: Line;
  readonly #deduplication: Deduplication;
  readonly #messages = new Map<string, QueuedMessage>();
  readonly #depth: Record<MessageState, number> = { available: 0, delayed: 0, inFlight: 0, gone: 0 };
  readonly #listeners = new Set<() => void>();
  #sequence = 0;
  #purgedAtMs: number | undefined;

  constructor(parts: QueueParts) {
    const { clock, limits, random, settings } = parts;
    this.#parts = parts;
    this.#line = settings.fifo
      ? new FifoLine(random, limits.fifoLookaheadMessagesMax)
      : new StandardLine(random);
    this.#deduplication = new Deduplication(clock, settings, limits.deduplicationSeconds);
  }

  get name(): string {
    return this.#parts.settings.name;
  }

  get parts(): QueueParts {
    return this.#parts;
  }

  get depth(): Depth {
    const { available, delayed, inFlight } = this.#depth;
    return { available, delayed, inFlight };
  }

  /** Whether a receive would find something; of a FIFO queue, whether a group is free. */
  get hasAvailable(): boolean {
    return this.#line.hasAvailable;
  }

  /** Calls back whenever something may be received; what it returns ends that. */
  onAvailable(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** A duplicate within five minutes is answered as the first one was, and not kept. */
  send(draft: MessageDraft): Sent {
    const { clock, limits, settings } = this.#parts;
    const earlier = settings.fifo ? this.#deduplication.find(draft) : undefined;
    if (earlier !== undefined) return earlier;
    if (this.#messages.size >= limits.storedMessagesMax) {
      throw new Error(`The queue ${this.name} holds ${limits.storedMessagesMax} messages: storedMessagesMax`);
    }
    const message = this.#enter(draft, clock.now(), draft.delaySeconds ?? settings.delaySeconds);
    const sent = { messageId: message.id, sequenceNumber: message.sequenceNumber };
    if (settings.fifo) this.#deduplication.remember(draft, sent);
    return sent;
  }

  /** Takes over a message of another queue that was received too often. */
  bury(message: QueuedMessage, sourceArn: string): void {
    const { clock, settings } = this.#parts;
    // A standard queue goes on counting the retention from the first sending, a FIFO queue begins anew.
    const enqueuedAtMs = settings.fifo ? clock.now() : message.enqueuedAtMs;
    this.#enter(message.draft, enqueuedAtMs, 0, { ...message, deadLetterSourceArn: sourceArn });
  }

  /** Hides what it returns until the visibility timeout is over. */
  receive(receive: Receive): QueuedMessage[] {
    const { dice, faults, limits, random, settings } = this.#parts;
    let { messagesMax } = receive;
    const subject = { queueName: this.name, messagesMax };
    const room = limits.inFlightMessagesMax - this.#depth.inFlight;
    if (room <= 0 && !settings.fifo && receive.failsOverLimit) throw overLimit();
    if (dice.strikes('receiveFewer', faults.receiveFewer, subject))
      messagesMax = 1 + random.integer(messagesMax);
    const messages = this.#line.choose(Math.min(messagesMax, room), this.#judge(receive.bytesMax));
    if (messages.length === 0) return messages;
    const seconds = receive.visibilityTimeoutSeconds ?? settings.visibilityTimeoutSeconds;
    const hide = dice.strikes('earlyRedelivery', faults.earlyRedelivery, subject)
      ? this.#hideBriefly(seconds * 1000)
      : (message: QueuedMessage) => this.#hide(message, 'inFlight', seconds * 1000);
    for (const message of messages) {
      this.#markReceived(message);
      hide(message);
    }
    return messages;
  }

  /** The message with this id, unless it is gone. */
  find(messageId: string): QueuedMessage | undefined {
    return this.#messages.get(messageId);
  }

  delete(message: QueuedMessage): void {
    const { dice, faults, settings } = this.#parts;
    const subject = this.#subject(message);
    if (dice.strikes('redeliver', faults.redeliver, subject)) {
      if (settings.fifo) throw internalError();
      const delayMs = dice.delayMs(faults.redeliverDelayMs ?? REDELIVER_DELAY_MS, subject);
      this.#hide(message, 'delayed', delayMs);
      return;
    }
    this.#remove(message);
    this.#announce();
  }

  changeVisibility(message: QueuedMessage, seconds: number): void {
    if (seconds === 0) this.#show(message);
    else this.#hide(message, 'inFlight', seconds * 1000);
  }

  get purgedAtMs(): number | undefined {
    return this.#purgedAtMs;
  }

  purge(): void {
    this.#purgedAtMs = this.#parts.clock.now();
    for (const message of this.#messages.values()) this.#remove(message);
  }

  /** Nothing becomes visible any more. */
  stop(): void {
    this.#listeners.clear();
    for (const message of this.#messages.values()) message.cancelTimer();
  }

  #enter(
    draft: MessageDraft,
    enqueuedAtMs: number,
    delaySeconds: number,
    earlier?: Pick<
      QueuedMessage,
      'id' | 'sentAtMs' | 'receiveCount' | 'firstReceivedAtMs' | 'deadLetterSourceArn'
    >,
  ): QueuedMessage {
    const { random, settings } = this.#parts;
    this.#sequence += 1;
    const message: QueuedMessage = {
      id: earlier?.id ?? uuid(random),
      draft,
      sentAtMs: earlier?.sentAtMs ?? enqueuedAtMs,
      enqueuedAtMs,
      sequenceNumber: settings.fifo ? String(this.#sequence).padStart(SEQUENCE_DIGITS, '0') : undefined,
      deadLetterSourceArn: earlier?.deadLetterSourceArn,
      state: delaySeconds > 0 ? 'delayed' : 'available',
      withinLookahead: false,
      receiveCount: earlier?.receiveCount ?? 0,
      firstReceivedAtMs: earlier?.firstReceivedAtMs,
      receivedAtMs: 0,
      receipt: '',
      cancelTimer: () => {},
    };
    this.#messages.set(message.id, message);
    this.#depth[message.state] += 1;
    this.#line.add(message);
    if (delaySeconds > 0) this.#showAfter(message, delaySeconds * 1000);
    this.#announce();
    return message;
  }

  #judge(bytesMax = Number.POSITIVE_INFINITY): (message: QueuedMessage) => Verdict {
    const { clock, settings } = this.#parts;
    let bytes = 0;
    return (message) => {
      const isExpired = message.enqueuedAtMs + settings.messageRetentionSeconds * 1000 <= clock.now();
      if (isExpired || this.#isDead(message)) {
        this.#remove(message);
        if (!isExpired) this.#parts.deadLetterQueue?.bury(message, this.#parts.arn);
        return 'removed';
      }
      const isFirst = bytes === 0;
      bytes += message.draft.bytes;
      return isFirst || bytes <= bytesMax ? 'take' : 'stop';
    };
  }

  #isDead(message: QueuedMessage): boolean {
    const { redrive } = this.#parts.settings;
    return redrive !== undefined && message.receiveCount >= redrive.maxReceiveCount;
  }

  #markReceived(message: QueuedMessage): void {
    const { clock, random } = this.#parts;
    message.receiveCount += 1;
    message.receivedAtMs = clock.now();
    message.firstReceivedAtMs ??= message.receivedAtMs;
    message.receipt = newReceipt(random);
  }

  /** For all messages of one receive alike, as a visibility timeout that was too short would do it. */
  #hideBriefly(timeoutMs: number): (message: QueuedMessage) => void {
    const { random, soon } = this.#parts;
    const ms = random.happens(0.5) ? 0 : random.next() * timeoutMs;
    if (ms > 0) return (message) => this.#hide(message, 'inFlight', ms);
    return (message) => {
      this.#hide(message, 'inFlight', timeoutMs);
      const { receipt } = message;
      soon(() => {
        if (message.state === 'inFlight' && message.receipt === receipt) this.#show(message);
      });
    };
  }

  #hide(message: QueuedMessage, state: 'delayed' | 'inFlight', ms: number): void {
    this.#become(message, state);
    this.#showAfter(message, ms);
  }

  #showAfter(message: QueuedMessage, ms: number): void {
    message.cancelTimer = this.#parts.clock.setTimer(ms, () => this.#show(message));
  }

  #show(message: QueuedMessage): void {
    this.#become(message, 'available');
    this.#announce();
  }

  #become(message: QueuedMessage, state: Exclude<MessageState, 'gone'>): void {
    const before = message.state;
    message.cancelTimer();
    message.cancelTimer = () => {};
    this.#depth[before] -= 1;
    this.#depth[state] += 1;
    message.state = state;
    this.#line.changed(message, before);
  }

  #remove(message: QueuedMessage): void {
    const before = message.state;
    message.cancelTimer();
    this.#depth[before] -= 1;
    message.state = 'gone';
    this.#messages.delete(message.id);
    this.#line.remove(message, before);
  }

  #announce(): void {
    if (!this.#line.hasAvailable) return;
    for (const listener of this.#listeners) listener();
  }

  #subject(message: QueuedMessage) {
    const { groupId, body } = message.draft;
    return {
      queueName: this.name,
      messageId: message.id,
      ...(groupId !== undefined && { messageGroupId: groupId }),
      body,
      receiveCount: message.receiveCount,
    };
  }
}
