import { type Log, messageBytes, steadyNow } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import { type Acknowledgement, decodeEntry, encodeEntry } from './entries.ts';
import { decodeFrame, encodeFrame, type Frame, type HeirFrame, type PublishFrame } from './frames.ts';
import { Incoming } from './incoming.ts';
import { ACKNOWLEDGE_MS, ENTRY_BYTES_MAX, PENDING_BYTES_MAX, RESEND_MS } from './limits.ts';
import { Outgoing, type Sent } from './outgoing.ts';
import type { Transport } from './transport.ts';

/** Handles one frame. Returns a promise if that is not done at once. */
export type FrameHandler = (from: string, frame: Frame) => Promise<void> | undefined;

/**
 * Sends frames between processes. The frames for a process in one turn of the event loop are one entry. Entries arrive
 * once and in order: they are numbered, and sent again until the other process has said that it has them.
 *
 * An acknowledgement names the last entry up to which everything is stored, so one is enough for many. If a frame
 * waits for it, it leaves with the turn in which the entry was stored; otherwise with the next entry, or soon.
 */
export class Bus {
  readonly #transport: Transport;
  readonly #me: string;
  readonly #clock: Scheduler;
  readonly #log: Log;
  readonly #outgoing = new Map<string, Outgoing>();
  readonly #incoming = new Map<string, Incoming>();
  #handle: FrameHandler = () => undefined;
  #isFlushing = false;
  #isStopped = false;
  #cancelAcknowledging: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  readonly #flushNow = () => this.#flush();

  constructor(transport: Transport, me: string, clock: Scheduler, log: Log) {
    this.#transport = transport;
    this.#me = me;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes frames that are sent to this process, until `stop`. */
  async start(handle: FrameHandler): Promise<void> {
    this.#handle = handle;
    await this.#transport.start((bytes) => this.#take(bytes));
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelAcknowledging?.();
    this.#cancelLook?.();
  }

  /** Too many bytes wait for this process. */
  isFull(process: string): boolean {
    return (this.#outgoing.get(process)?.pendingBytes ?? 0) > PENDING_BYTES_MAX;
  }

  /** The processes that have sent something. */
  get peers(): Iterable<string> {
    return this.#incoming.keys();
  }

  /** Sends a frame for which no caller waits. */
  send(process: string, frame: Frame): void {
    this.#outgoingTo(process).gather(encodeFrame(frame), undefined);
    this.#flushSoon();
  }

  /** Sends a frame. Resolves when the process, or its heir, has done what it asks. */
  request(process: string, frame: Frame, encoded = encodeFrame(frame)): Promise<void> {
    return new Promise((resolve) => {
      this.#outgoingTo(process).gather(encoded, { bytes: encoded.length, frame, resolve });
      this.#flushSoon();
    });
  }

  /** The process was given up: nothing more is sent to it. Returns the frames that it has not acknowledged. */
  forget(process: string): { readonly frame: Frame; resolve(): void }[] {
    const outgoing = this.#outgoing.get(process);
    this.#outgoing.delete(process);
    this.#incoming.delete(process);
    return outgoing?.unacknowledged ?? [];
  }

  /** Resolves when all that was sent has been carried. */
  async flushed(): Promise<void> {
    this.#flush();
    await this.#transport.flushed();
  }

  #outgoingTo(process: string): Outgoing {
    let outgoing = this.#outgoing.get(process);
    if (outgoing === undefined) {
      outgoing = new Outgoing();
      this.#outgoing.set(process, outgoing);
    }
    return outgoing;
  }

  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(this.#flushNow);
  }

  #flush(): void {
    this.#isFlushing = false;
    if (this.#isStopped) return;
    this.#transport.together(() => {
      for (const [process, outgoing] of this.#outgoing)
        while (outgoing.isDue) {
          const sent = outgoing.take(this.#me, this.#acknowledgementTo(process), steadyNow(this.#clock));
          this.#carry(process, sent);
          this.#lookLater();
        }
      for (const [process, incoming] of this.#incoming)
        if (incoming.isUrgent) this.#acknowledge(process, incoming);
    });
  }

  #acknowledge(process: string, incoming: Incoming): void {
    const acknowledgement = incoming.acknowledgement();
    if (acknowledgement === undefined) return;
    const entry = { from: this.#me, number: 0, isAwaited: false, acknowledgement, frames: [] };
    this.#transport.send(process, encodeEntry(entry));
  }

  #acknowledgementTo(process: string): Acknowledgement | undefined {
    return this.#incoming.get(process)?.acknowledgement();
  }

  #carry(process: string, { data }: Sent): void {
    if (data !== undefined) this.#transport.send(process, data);
  }

  /** Sends the entries that have not arrived again, later. */
  #lookLater(): void {
    this.#cancelLook ??= this.#clock.after(RESEND_MS, () => {
      this.#cancelLook = undefined;
      if (this.#isStopped) return;
      for (const [process, outgoing] of this.#outgoing) {
        const overdue = outgoing.overdue(steadyNow(this.#clock));
        if (overdue !== undefined) this.#sendAgain(process, [overdue]);
        if (outgoing.isUnderWay) this.#lookLater();
      }
    });
  }

  #sendAgain(process: string, entries: readonly Sent[]): void {
    // The entry is under way: the engine does not read.
    if (this.#transport.isWaiting) return;
    const nowMs = steadyNow(this.#clock);
    this.#transport.together(() => {
      for (const sent of entries) {
        sent.sentAtMs = nowMs;
        this.#carry(process, sent);
      }
    });
  }

  #acknowledgeLater(): void {
    this.#cancelAcknowledging ??= this.#clock.after(ACKNOWLEDGE_MS, () => {
      this.#cancelAcknowledging = undefined;
      for (const incoming of this.#incoming.values()) if (incoming.isUntold) incoming.isUrgent = true;
      this.#flush();
    });
  }

  #take(bytes: Buffer): void {
    if (this.#isStopped) return;
    const { from, number, isAwaited, acknowledgement, frames } = decodeEntry(bytes);
    if (acknowledgement !== undefined) this.#acknowledged(from, acknowledgement);
    if (number === 0) return;
    let incoming = this.#incoming.get(from);
    if (incoming === undefined) {
      incoming = new Incoming();
      this.#incoming.set(from, incoming);
    }
    if (!incoming.take(number, bytes.length)) {
      if (incoming.isUrgent) this.#flushSoon();
      return;
    }
    const works: Promise<void>[] = [];
    for (const frame of frames) {
      const work = this.#begin(from, frame);
      if (work !== undefined) works.push(work);
    }
    if (works.length === 0) this.#finish(incoming, number, isAwaited);
    else this.#finishBehind(works, incoming, number, isAwaited);
  }

  /** Handles the frame, at once or later. An error, too, comes at once or later. */
  #begin(from: string, frame: Buffer): Promise<void> | undefined {
    try {
      return this.#handle(from, decodeFrame(frame));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #finishBehind(works: Promise<void>[], incoming: Incoming, number: number, isAwaited: boolean): void {
    void Promise.all(works).then(
      () => this.#finish(incoming, number, isAwaited),
      // Not acknowledged: this process is about to stop.
      (error: unknown) => this.#failed(error),
    );
  }

  #finish(incoming: Incoming, number: number, isAwaited: boolean): void {
    incoming.finish(number, isAwaited);
    if (incoming.isUrgent) this.#flushSoon();
    else this.#acknowledgeLater();
  }

  #acknowledged(from: string, acknowledgement: Acknowledgement): void {
    const outgoing = this.#outgoing.get(from);
    if (outgoing === undefined) return;
    const lost = outgoing.acknowledged(acknowledgement);
    if (lost.length > 0) this.#sendAgain(from, lost);
    if (outgoing.isDue) this.#flushSoon();
  }

  #failed(error: unknown): void {
    if (!this.#isStopped) this.#log.error('bus-frame-failed', { error: String(error) });
  }
}

/** The messages in frames that were not acknowledged, oldest first. */
export function messagesOf(frames: readonly { readonly frame: Frame }[]): PublishFrame[] {
  const messages = frames.flatMap(({ frame }) => {
    if (frame.type === 'publish') return frame.message.qos > 0 ? [frame] : [];
    return frame.type === 'heir' ? frame.messages : [];
  });
  return messages.sort((one, other) => (one.message.id < other.message.id ? -1 : 1));
}

/** Messages for the heir of a dead process, in frames that are not too large for the engine. At least one frame. */
export function heirFrames(process: string, messages: readonly PublishFrame[]): HeirFrame[] {
  const portions: PublishFrame[][] = [[]];
  let bytes = 0;
  for (const each of messages) {
    bytes += messageBytes(each.message);
    const last = portions.at(-1) ?? [];
    if (bytes <= ENTRY_BYTES_MAX || last.length === 0) last.push(each);
    else {
      portions.push([each]);
      bytes = messageBytes(each.message);
    }
  }
  return portions.map((portion, index) => ({
    ...{ type: 'heir', process, messages: portion },
    isLast: index === portions.length - 1,
  }));
}
