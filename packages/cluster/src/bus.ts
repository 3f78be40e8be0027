import type { Log } from '@apus/broker';
import type { Engine } from '@apus/store-valkey';
import {
  decodeEntry,
  type Entry,
  encodeEntry,
  encodeFrame,
  type Frame,
  type PublishFrame,
} from './frames.ts';
import { PENDING_BYTES_MAX, READ_BLOCK_MS, READ_COUNT } from './limits.ts';

/** Handles one frame; settles when that is done, if it is not done at once. */
export type FrameHandler = (from: string, frame: Frame) => Promise<void> | undefined;

/** A frame that its process has not acknowledged. */
interface Pending {
  readonly bytes: number;
  readonly frame: Frame;
  resolve(): void;
}

/** Frames on their way to one process. */
class Outgoing {
  readonly gathered: { readonly bytes: Buffer; readonly pending: Pending | undefined }[] = [];
  /** By entry. */
  readonly pending = new Map<number, Pending[]>();
  pendingBytes = 0;
  lastEntry = 0;
}

/** Frames that have come from one process. */
class Incoming {
  lastEntry = 0;
  /** Entries that have been handled, and not yet acknowledged. */
  done: number[] = [];
}

/**
 * Carries frames between processes. Each process has one channel, a stream of the engine, from which it reads; what is
 * sent to it in one turn of the event loop is one entry. Frames of one process to another arrive once and in order, and
 * those with an acknowledgement are kept until it comes.
 */
export class Bus {
  readonly #engine: Engine;
  readonly #me: string;
  readonly #log: Log;
  readonly #outgoing = new Map<string, Outgoing>();
  readonly #incoming = new Map<string, Incoming>();
  #handle: FrameHandler = () => undefined;
  #lastId = '0';
  #isFlushing = false;
  #isStopped = false;

  constructor(engine: Engine, me: string, log: Log) {
    this.#engine = engine;
    this.#me = me;
    this.#log = log;
  }

  /** Reads the channel of this process from its beginning, until `stop`. */
  async start(handle: FrameHandler): Promise<void> {
    this.#handle = handle;
    const client = await this.#engine.blocking();
    void this.#read(client);
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Too much waits for this process. */
  isFull(process: string): boolean {
    return (this.#outgoing.get(process)?.pendingBytes ?? 0) > PENDING_BYTES_MAX;
  }

  /** Sends a frame that nothing waits for. */
  send(process: string, frame: Frame): void {
    this.#gather(process, encodeFrame(frame), undefined);
  }

  /** Sends a frame; settles when the process has done what it asks, or its heir has. */
  request(process: string, frame: Frame, encoded = encodeFrame(frame)): Promise<void> {
    return new Promise((resolve) => {
      this.#gather(process, encoded, { bytes: encoded.length, frame, resolve });
    });
  }

  /** The process has been given up: nothing more is sent to it. Answers what it has not acknowledged. */
  forget(process: string): { readonly frame: Frame; resolve(): void }[] {
    const outgoing = this.#outgoing.get(process);
    this.#outgoing.delete(process);
    this.#incoming.delete(process);
    if (outgoing === undefined) return [];
    const gathered = outgoing.gathered.flatMap(({ pending }) => pending ?? []);
    return [...outgoing.pending.values()].flat().concat(gathered);
  }

  /** Takes entries out of the channel that have been read. */
  async trim(): Promise<void> {
    if (this.#lastId === '0') return;
    await this.#engine.client.xtrim(this.#inbox(this.#me), 'MINID', this.#lastId);
  }

  /** Settles when all that was sent is in the engine. */
  async flushed(): Promise<void> {
    this.#flush();
    await this.#engine.client.ping();
  }

  #gather(process: string, bytes: Buffer, pending: Pending | undefined): void {
    let outgoing = this.#outgoing.get(process);
    if (outgoing === undefined) {
      outgoing = new Outgoing();
      this.#outgoing.set(process, outgoing);
    }
    outgoing.gathered.push({ bytes, pending });
    outgoing.pendingBytes += pending?.bytes ?? 0;
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isFlushing = true;
    this.#acknowledge();
    for (const [process, outgoing] of this.#outgoing)
      if (outgoing.gathered.length > 0) this.#write(process, outgoing);
    this.#isFlushing = false;
  }

  #write(process: string, outgoing: Outgoing): void {
    outgoing.lastEntry += 1;
    const entry = outgoing.lastEntry;
    const gathered = outgoing.gathered.splice(0);
    const pending = gathered.flatMap((each) => each.pending ?? []);
    const isAcknowledged = pending.length > 0;
    if (isAcknowledged) outgoing.pending.set(entry, pending);
    const frames = gathered.map(({ bytes }) => bytes);
    const data = encodeEntry(this.#me, entry, isAcknowledged, frames);
    const added = this.#engine.client.xadd(this.#inbox(process), '*', 'e', data);
    added.catch((error: unknown) => this.#failed('bus-write-failed', error));
  }

  /** Tells each process how far its entries have been handled. */
  #acknowledge(): void {
    for (const [process, incoming] of this.#incoming) {
      if (incoming.done.length === 0) continue;
      this.send(process, { type: 'ack', entries: incoming.done });
      incoming.done = [];
    }
  }

  async #read(client: Awaited<ReturnType<Engine['blocking']>>): Promise<void> {
    while (!this.#isStopped) {
      try {
        const streams = await client.xreadBuffer(
          'COUNT',
          READ_COUNT,
          'BLOCK',
          READ_BLOCK_MS,
          'STREAMS',
          this.#inbox(this.#me),
          this.#lastId,
        );
        for (const [, entries] of streams ?? []) for (const [id, fields] of entries) this.#take(id, fields);
      } catch (error) {
        if (this.#isStopped) return;
        this.#failed('bus-read-failed', error);
        await new Promise((resolve) => setTimeout(resolve, READ_BLOCK_MS / 10));
      }
    }
  }

  #take(id: Buffer, fields: Buffer[] | null): void {
    this.#lastId = id.toString();
    const data = fields?.[1];
    if (data !== undefined && !this.#isStopped) this.#entry(decodeEntry(data));
  }

  /** The client library writes an entry again when its connection broke before the answer: it has the same number. */
  #entry({ from, number, isAcknowledged, frames }: Entry): void {
    let incoming = this.#incoming.get(from);
    if (incoming === undefined) {
      incoming = new Incoming();
      this.#incoming.set(from, incoming);
    }
    if (number <= incoming.lastEntry) return;
    incoming.lastEntry = number;
    const works: Promise<void>[] = [];
    for (const frame of frames) {
      if (frame.type === 'ack') this.#acknowledged(from, frame.entries);
      else {
        const work = this.#handle(from, frame);
        if (work !== undefined) works.push(work);
      }
    }
    if (!isAcknowledged) return;
    if (works.length === 0) this.#finish(incoming, number);
    else
      void Promise.all(works).then(
        () => this.#finish(incoming, number),
        // Not acknowledged: this process is about to stop.
        (error: unknown) => this.#failed('bus-frame-failed', error),
      );
  }

  #finish(incoming: Incoming, entry: number): void {
    incoming.done.push(entry);
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => this.#flush());
  }

  #acknowledged(from: string, entries: readonly number[]): void {
    const outgoing = this.#outgoing.get(from);
    for (const entry of entries) {
      for (const pending of outgoing?.pending.get(entry) ?? []) {
        if (outgoing !== undefined) outgoing.pendingBytes -= pending.bytes;
        pending.resolve();
      }
      outgoing?.pending.delete(entry);
    }
  }

  #failed(event: string, error: unknown): void {
    if (!this.#isStopped) this.#log.error(event, { error: String(error) });
  }

  #inbox(process: string): string {
    return this.#engine.key('inbox', process);
  }
}

/** The messages among frames that were not acknowledged. */
export function messagesOf(frames: readonly { readonly frame: Frame }[]): PublishFrame[] {
  return frames.flatMap(({ frame }) => {
    if (frame.type === 'publish') return frame.message.qos > 0 ? [frame] : [];
    return frame.type === 'heir' ? frame.messages : [];
  });
}
