import { MARKS_MAX, MESSAGES_BYTES_MAX, MESSAGES_MAX } from '../limits.ts';
import type { Batch } from '../protocol.ts';
import type { AppendListener, LoggedMessage, MessageLog, PlacedMark } from '../types.ts';
import { FrameListeners, type Schedule } from './frames.ts';
import { Message, type MessageFields } from './message.ts';
import { PublishedStates } from './published-states.ts';
import { Ring } from './ring.ts';

export interface MessageLogLimits {
  readonly messagesMax: number;
  readonly bytesMax: number;
}

/** The memory of a message besides its bytes: its object, measured in Chromium, rounded up. */
const OVERHEAD_BYTES = 256;

/** Messages in which the gap of a late one is looked for. */
const LATE_LOOK_BACK = 2_000;

/** The messages of a connection, bounded by count and by bytes; the oldest go first. */
export class BoundedMessageLog implements MessageLog {
  readonly limits: MessageLogLimits;
  readonly #ring: Ring<Message>;
  readonly #appended = new Set<AppendListener>();
  readonly #cleared = new Set<() => void>();
  readonly #frames: FrameListeners;
  #bytes = 0;
  #evicted = 0;
  #marks: readonly PlacedMark[] = [];
  readonly #published = new PublishedStates();

  constructor(
    limits: MessageLogLimits = { messagesMax: MESSAGES_MAX, bytesMax: MESSAGES_BYTES_MAX },
    schedule?: Schedule,
  ) {
    this.limits = limits;
    this.#ring = new Ring(limits.messagesMax);
    this.#frames = new FrameListeners(schedule);
  }

  get size(): number {
    return this.#ring.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get firstSequence(): number {
    return this.#ring.first;
  }

  get endSequence(): number {
    return this.#ring.end;
  }

  get evicted(): number {
    return this.#evicted;
  }

  get marks(): readonly PlacedMark[] {
    return this.#marks;
  }

  at(sequence: number): LoggedMessage | undefined {
    return this.#ring.at(sequence);
  }

  /** Listeners get a batch larger than the log as a whole; the log keeps its end. */
  append(
    batch: readonly MessageFields[],
    marks: Batch['marks'] = [],
    outcomes: Batch['outcomes'] = [],
  ): void {
    if (batch.length === 0 && marks.length === 0 && outcomes.length === 0) return;
    const begin = this.#ring.end;
    const messages: LoggedMessage[] = [];
    let answered = 0;
    const applyOutcomesUntil = (row: number): void => {
      for (; (outcomes[answered]?.row ?? Number.POSITIVE_INFINITY) <= row; answered += 1) {
        const answer = outcomes[answered];
        if (answer !== undefined) this.#published.resolve(answer.outcome);
      }
    };
    for (const [row, fields] of batch.entries()) {
      applyOutcomesUntil(row);
      const message = new Message(this.#ring.end, fields);
      if (message.direction === 'published') this.#published.sent(message);
      if (fields.missingBefore < 0) this.#fillGap(fields.topic);
      if (this.#ring.isFull) this.#evict();
      this.#ring.push(message);
      this.#bytes += costOf(message);
      messages.push(message);
    }
    applyOutcomesUntil(batch.length);
    while (this.#bytes > this.limits.bytesMax && this.#ring.size > 1) this.#evict();
    const placed = marks.map(({ row, mark }) => ({ sequence: begin + row, mark }));
    this.#mark(placed);
    for (const listener of [...this.#appended]) listener(messages, placed);
    this.#frames.changed();
  }

  clear(): void {
    this.#ring.clear();
    this.#bytes = 0;
    this.#evicted = 0;
    this.#marks = [];
    for (const listener of [...this.#cleared]) listener();
    this.#frames.changed();
  }

  onAppend(listener: AppendListener): () => void {
    this.#appended.add(listener);
    return () => void this.#appended.delete(listener);
  }

  onFrame(listener: () => void): () => void {
    return this.#frames.add(listener);
  }

  onClear(listener: () => void): () => void {
    this.#cleared.add(listener);
    return () => void this.#cleared.delete(listener);
  }

  /** Takes one message off the newest gap of the topic. */
  #fillGap(topic: string): void {
    const { first, end } = this.#ring;
    for (let sequence = end - 1; sequence >= Math.max(first, end - LATE_LOOK_BACK); sequence -= 1) {
      const message = this.#ring.at(sequence);
      if (message?.topic !== topic || message.missingBefore === 0) continue;
      message.fillGap();
      return;
    }
  }

  /** A mark is removed with the message that follows it. */
  #mark(placed: readonly PlacedMark[]): void {
    const [oldest] = this.#marks;
    const isPast = oldest !== undefined && oldest.sequence < this.#ring.first;
    if (placed.length === 0 && !isPast) return;
    const held = [...this.#marks, ...placed].filter(({ sequence }) => sequence >= this.#ring.first);
    this.#marks = merged(held).slice(-MARKS_MAX);
  }

  #evict(): void {
    const oldest = this.#ring.shift();
    if (oldest === undefined) return;
    this.#bytes -= costOf(oldest);
    this.#evicted += 1;
  }
}

function costOf(message: LoggedMessage): number {
  return message.packetLength + OVERHEAD_BYTES;
}

/** Several notices without a message between them become one. */
function merged(marks: readonly PlacedMark[]): readonly PlacedMark[] {
  const result: PlacedMark[] = [];
  for (const { sequence, mark } of marks) {
    const last = result.at(-1);
    if (last?.sequence === sequence && last.mark.kind === 'dropped' && mark.kind === 'dropped') {
      const reasons = new Map(Object.entries(last.mark.reasons));
      for (const [why, count] of Object.entries(mark.reasons))
        reasons.set(why, (reasons.get(why) ?? 0) + count);
      result[result.length - 1] = {
        sequence,
        mark: { ...mark, count: last.mark.count + mark.count, reasons: Object.fromEntries(reasons) },
      };
    } else result.push({ sequence, mark });
  }
  return result;
}
