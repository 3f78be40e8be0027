import { type Acknowledgement, encodeEntry } from './entries.ts';
import type { Frame } from './frames.ts';
import { ENTRY_BYTES_MAX, RESEND_MS, RESEND_MS_MAX, WINDOW_BYTES } from './limits.ts';

/** A frame that the other process has not acknowledged. */
export interface Pending {
  readonly bytes: number;
  readonly frame: Frame;
  resolve(): void;
}

interface Gathered {
  readonly bytes: Buffer;
  readonly pending: Pending | undefined;
}

/** An entry that was sent, and is not known to be stored. */
export interface Sent {
  readonly number: number;
  /** Absent: it has arrived. */
  data: Buffer | undefined;
  pending: Pending[];
  sentAtMs: number;
}

/** Frames for one process. */
export class Outgoing {
  #gathered: Gathered[] = [];
  #gatheredBytes = 0;
  /** Oldest first, without gaps. */
  readonly #sent: Sent[] = [];
  /** Bytes of entries that have not arrived. */
  #sentBytes = 0;
  #lastEntry = 0;
  #received = 0;
  #resendMs = RESEND_MS;
  /** The entry that was sent again as a question, and the last one sent before that. */
  #question: { readonly number: number; readonly last: number } | undefined;
  /** Bytes of frames that have to be acknowledged. */
  pendingBytes = 0;

  gather(bytes: Buffer, pending: Pending | undefined): void {
    this.#gathered.push({ bytes, pending });
    this.#gatheredBytes += bytes.length;
    this.pendingBytes += pending?.bytes ?? 0;
  }

  /** Frames may be sent now. */
  get isDue(): boolean {
    return this.#gathered.length > 0 && this.#sentBytes < WINDOW_BYTES;
  }

  /** An entry has not arrived, as far as this process knows. */
  get isUnderWay(): boolean {
    return this.#sentBytes > 0;
  }

  /** Makes an entry of the gathered frames. */
  take(from: string, acknowledgement: Acknowledgement | undefined, nowMs: number): Sent {
    const gathered = this.#take();
    const frames = gathered.map(({ bytes }) => bytes);
    const pending: Pending[] = [];
    let isAwaited = false;
    for (const each of gathered) {
      if (each.pending === undefined) continue;
      pending.push(each.pending);
      isAwaited ||= isWaitedFor(each.pending.frame);
    }
    this.#lastEntry += 1;
    const number = this.#lastEntry;
    const data = encodeEntry({ from, number, isAwaited, acknowledgement, frames });
    const sent: Sent = { number, data, pending, sentAtMs: nowMs };
    this.#sent.push(sent);
    this.#sentBytes += data.length;
    return sent;
  }

  /** Returns entries that are certainly lost: they were sent before one that has arrived. */
  acknowledged({ received, stored, others, isMissing }: Acknowledgement): Sent[] {
    this.#arrived(received);
    while (this.#sent[0] !== undefined && this.#sent[0].number <= stored) {
      this.#resolve(this.#sent[0]);
      this.#sent.shift();
    }
    const first = this.#sent[0]?.number ?? 0;
    for (const other of others) {
      const sent = this.#sent[other - first];
      if (sent !== undefined) this.#resolve(sent);
    }
    const question = this.#question;
    const isAnswered = question !== undefined && received >= question.number;
    if (isAnswered) this.#question = undefined;
    if (isAnswered || question === undefined) this.#resendMs = RESEND_MS;
    if (isMissing) return this.#sent.filter(({ data }) => data !== undefined);
    if (!isAnswered) return [];
    return this.#sent.filter(({ data, number }) => data !== undefined && number <= question.last);
  }

  /** The oldest entry, if it has not arrived for so long that it may be lost. */
  overdue(nowMs: number): Sent | undefined {
    const oldest = this.#sent.find(({ data }) => data !== undefined);
    if (oldest === undefined || nowMs - oldest.sentAtMs < this.#resendMs) return undefined;
    this.#question = { number: oldest.number, last: this.#lastEntry };
    this.#resendMs = Math.min(2 * this.#resendMs, RESEND_MS_MAX);
    return oldest;
  }

  /** All frames that have not been acknowledged. */
  get unacknowledged(): Pending[] {
    return [
      ...this.#sent.flatMap(({ pending }) => pending),
      ...this.#gathered.flatMap(({ pending }) => pending ?? []),
    ];
  }

  #take(): Gathered[] {
    if (this.#gatheredBytes <= ENTRY_BYTES_MAX) {
      const all = this.#gathered;
      this.#gathered = [];
      this.#gatheredBytes = 0;
      return all;
    }
    let bytes = 0;
    let count = 0;
    for (const each of this.#gathered) {
      if (count > 0 && bytes + each.bytes.length > ENTRY_BYTES_MAX) break;
      bytes += each.bytes.length;
      count += 1;
    }
    this.#gatheredBytes -= bytes;
    return this.#gathered.splice(0, count);
  }

  #arrived(received: number): void {
    if (received <= this.#received) return;
    const first = this.#sent[0]?.number ?? 0;
    for (let number = Math.max(first, this.#received + 1); number <= received; number += 1) {
      const sent = this.#sent[number - first];
      if (sent?.data === undefined) continue;
      this.#sentBytes -= sent.data.length;
      sent.data = undefined;
    }
    this.#received = received;
  }

  #resolve(sent: Sent): void {
    for (const pending of sent.pending) {
      this.pendingBytes -= pending.bytes;
      pending.resolve();
    }
    sent.pending = [];
  }
}

/** At QoS 0 no publisher waits, so an acknowledgement may wait for others. */
function isWaitedFor(frame: Frame): boolean {
  return frame.type !== 'publish' || frame.message.qos > 0;
}
