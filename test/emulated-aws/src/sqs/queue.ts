import { uuid } from '@apus/emulator/service';
import { Deduplication, type Sent } from './deduplication.ts';
import { internalError, overLimit } from './errors.ts';
import type { SqsMessage } from './faults.ts';
import { FifoLine } from './fifo-line.ts';
import type { Verdict } from './line.ts';
import { type MessageDraft, newMessage, type QueuedMessage } from './message.ts';
import type { QueueParts } from './queue-parts.ts';
import { newReceipt } from './receipt.ts';
import { type Depth, Shelf } from './shelf.ts';
import { StandardLine } from './standard-line.ts';

/** Digits of a sequence number, as AWS writes them: equally long, so that they also sort as text. */
const SEQUENCE_DIGITS = 20;
const REDELIVER_DELAY_MS = { minMs: 0, maxMs: 60_000 };

export interface Receive {
  readonly messagesMax: number;
  /** @default the queue's */
  readonly visibilityTimeoutSeconds?: number | undefined;
  /** Bytes of bodies and attributes together; at least one message comes in any case. @default no limit */
  readonly bytesMax?: number;
  /** Whether the limit of messages in flight is an error, as for a short poll on a standard queue. */
  readonly failsOverLimit?: boolean;
}

/** One queue with its rules. It knows no protocol. */
export class Queue {
  readonly parts: QueueParts;
  readonly #shelf: Shelf;
  readonly #deduplication: Deduplication;
  #sequence = 0;
  #purgedAtMs: number | undefined;

  constructor(parts: QueueParts) {
    const { clock, limits, random, settings } = parts;
    this.parts = parts;
    const line = settings.fifo
      ? new FifoLine(random, limits.fifoLookaheadMessagesMax)
      : new StandardLine(random);
    this.#shelf = new Shelf(clock, line);
    this.#deduplication = new Deduplication(clock, settings, limits.deduplicationSeconds);
  }

  get name(): string {
    return this.parts.settings.name;
  }

  get depth(): Depth {
    return this.#shelf.depth;
  }

  /** Whether a receive would find a message; for a FIFO queue, whether a group is free. */
  get hasAvailable(): boolean {
    return this.#shelf.hasAvailable;
  }

  get purgedAtMs(): number | undefined {
    return this.#purgedAtMs;
  }

  /** Calls back whenever a message can be received; the returned function ends that. */
  onAvailable(listener: () => void): () => void {
    return this.#shelf.onAvailable(listener);
  }

  /** The message with this id, unless it is gone. */
  find(messageId: string): QueuedMessage | undefined {
    return this.#shelf.find(messageId);
  }

  /** A duplicate within five minutes gets the answer of the first one, and is not kept. */
  send(draft: MessageDraft): Sent {
    const { clock, limits, settings } = this.parts;
    const earlier = settings.fifo ? this.#deduplication.find(draft) : undefined;
    if (earlier !== undefined) return earlier;
    if (this.#shelf.size >= limits.storedMessagesMax) {
      throw new Error(`The queue ${this.name} holds ${limits.storedMessagesMax} messages: storedMessagesMax`);
    }
    const sent = { messageId: uuid(this.parts.random), sequenceNumber: this.#nextSequenceNumber() };
    if (settings.fifo) this.#deduplication.remember(draft, sent);
    const delaySeconds = draft.delaySeconds ?? settings.delaySeconds;
    const nowMs = clock.now();
    const { messageId: id, sequenceNumber } = sent;
    const times = { sentAtMs: nowMs, enqueuedAtMs: nowMs };
    const state = delaySeconds > 0 ? 'delayed' : 'available';
    this.#shelf.add(newMessage({ id, draft, sequenceNumber, state, ...times }), delaySeconds * 1000);
    return sent;
  }

  /** Takes over a message of another queue that was received too often. */
  bury(dead: QueuedMessage, deadLetterSourceArn: string): void {
    const { clock, settings } = this.parts;
    // A standard queue goes on counting the retention from the first sending, a FIFO queue begins anew.
    const enqueuedAtMs = settings.fifo ? clock.now() : dead.enqueuedAtMs;
    const sequenceNumber = this.#nextSequenceNumber();
    const { id, draft, sentAtMs, receiveCount, firstReceivedAtMs } = dead;
    const message = newMessage({ id, draft, sequenceNumber, state: 'available', sentAtMs, enqueuedAtMs });
    this.#shelf.add(Object.assign(message, { receiveCount, firstReceivedAtMs, deadLetterSourceArn }), 0);
  }

  /** Hides the returned messages until the visibility timeout is over. */
  receive(receive: Receive): QueuedMessage[] {
    const { dice, faults, limits, random, settings } = this.parts;
    const room = limits.inFlightMessagesMax - this.depth.inFlight;
    if (room <= 0 && !settings.fifo && receive.failsOverLimit) throw overLimit();
    if (!this.hasAvailable) return [];
    let { messagesMax } = receive;
    const subject = { queueName: this.name, messagesMax };
    if (dice.strikes('receiveFewer', faults.receiveFewer, subject))
      messagesMax = 1 + random.integer(messagesMax);
    const messages = this.#shelf.choose(Math.min(messagesMax, room), this.#judge(receive.bytesMax));
    const timeoutMs = (receive.visibilityTimeoutSeconds ?? settings.visibilityTimeoutSeconds) * 1000;
    const comesEarly =
      messages.length > 0 && dice.strikes('earlyRedelivery', faults.earlyRedelivery, subject);
    // All messages of one receive at once, as a visibility timeout that is too short would do.
    const earlyMs = comesEarly && !random.happens(0.5) ? random.next() * timeoutMs : 0;
    for (const message of messages) {
      this.#markReceived(message);
      this.#shelf.hide(message, 'inFlight', comesEarly && earlyMs > 0 ? earlyMs : timeoutMs);
      if (comesEarly && earlyMs === 0) this.#showSoon(message);
    }
    return messages;
  }

  delete(message: QueuedMessage): void {
    const { dice, faults, settings } = this.parts;
    const subject = subjectOf(this.name, message);
    if (!dice.strikes('redeliver', faults.redeliver, subject)) {
      this.#shelf.remove(message);
      return;
    }
    if (settings.fifo) throw internalError();
    this.#shelf.hide(
      message,
      'delayed',
      dice.delayMs(faults.redeliverDelayMs ?? REDELIVER_DELAY_MS, subject),
    );
  }

  changeVisibility(message: QueuedMessage, seconds: number): void {
    if (seconds === 0) this.#shelf.show(message);
    else this.#shelf.hide(message, 'inFlight', seconds * 1000);
  }

  purge(): void {
    this.#purgedAtMs = this.parts.clock.now();
    this.#shelf.clear();
  }

  /** Nothing becomes available any more. */
  stop(): void {
    this.#shelf.stop();
  }

  #nextSequenceNumber(): string | undefined {
    if (!this.parts.settings.fifo) return undefined;
    this.#sequence += 1;
    return String(this.#sequence).padStart(SEQUENCE_DIGITS, '0');
  }

  #judge(bytesMax = Number.POSITIVE_INFINITY): (message: QueuedMessage) => Verdict {
    const { clock, settings } = this.parts;
    let bytes = 0;
    return (message) => {
      const isExpired = message.enqueuedAtMs + settings.messageRetentionSeconds * 1000 <= clock.now();
      if (isExpired || this.#isDead(message)) {
        this.#shelf.remove(message);
        if (!isExpired) this.parts.deadLetterQueue?.bury(message, this.parts.arn);
        return 'removed';
      }
      const isFirst = bytes === 0;
      bytes += message.draft.bytes;
      return isFirst || bytes <= bytesMax ? 'take' : 'stop';
    };
  }

  #isDead(message: QueuedMessage): boolean {
    const { redrive } = this.parts.settings;
    return redrive !== undefined && message.receiveCount >= redrive.maxReceiveCount;
  }

  #markReceived(message: QueuedMessage): void {
    const { clock, random } = this.parts;
    message.receiveCount += 1;
    message.receivedAtMs = clock.now();
    message.firstReceivedAtMs ??= message.receivedAtMs;
    message.receipt = newReceipt(random);
  }

  #showSoon(message: QueuedMessage): void {
    const { receipt } = message;
    this.parts.soon(() => {
      if (message.state === 'inFlight' && message.receipt === receipt) this.#shelf.show(message);
    });
  }
}

function subjectOf(queueName: string, { draft, id, receiveCount }: QueuedMessage): SqsMessage {
  const { body, groupId } = draft;
  return {
    queueName,
    messageId: id,
    ...(groupId !== undefined && { messageGroupId: groupId }),
    body,
    receiveCount,
  };
}
