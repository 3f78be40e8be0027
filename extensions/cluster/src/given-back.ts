import { type Log, messageBytes, steadyNow } from '@apus/broker';
import type { Portion, Scheduler, TenantFilter } from '@apus/node';
import type { Bus } from './bus.ts';
import type { PublishFrame } from './frames.ts';
import { keyOf } from './full-rules.ts';
import { GIVEN_BACK_BYTES_MAX, GIVEN_BACK_MS_MAX } from './limits.ts';

/**
 * How a message has ended: `taken` by the process, `given-up` for lack of time or memory, or `inherited`: the process
 * is dead, and its heir has the message.
 */
export type End = 'taken' | 'given-up' | 'inherited';

/** A message for which a process had no room. */
export interface GivenBackMessage {
  readonly frame: PublishFrame;
  /** Resolves when nothing more has to be done for it here. */
  readonly end: Promise<End>;
  finish(end: End): void;
}

interface Entry extends GivenBackMessage {
  readonly process: string;
  readonly bytes: number;
  /** In the order in which messages were given back first. */
  readonly number: number;
  readonly deadlineMs: number;
  /** Undefined: it was sent again, or has ended. */
  line: Line | undefined;
}

/** Messages that wait for one queue of a rule at one process, oldest first. */
interface Line {
  readonly process: string;
  readonly queue: TenantFilter;
  readonly entries: Entry[];
}

/**
 * Messages that wait at the process of their publishers, because a rule queue of another process has no room for them.
 * That process says when there is room, and for how much, and they leave in their order. A message that has waited for
 * too long is given up: its publisher is refused, like others while the queue is full.
 */
export class GivenBack {
  readonly #bus: Pick<Bus, 'send' | 'request'>;
  readonly #clock: Scheduler;
  readonly #log: Log;
  readonly #lines = new Map<string, Line>();
  #bytes = 0;
  #lastNumber = 0;
  #armedForMs = Infinity;
  #cancel: () => void = () => {};

  constructor(bus: Pick<Bus, 'send' | 'request'>, clock: Scheduler, log: Log) {
    this.#bus = bus;
    this.#clock = clock;
    this.#log = log;
  }

  /** Bytes of the waiting messages. */
  get bytes(): number {
    return this.#bytes;
  }

  /** @param before the same message, if it was sent again */
  add(
    process: string,
    queue: TenantFilter,
    frame: PublishFrame,
    before?: GivenBackMessage,
  ): GivenBackMessage {
    const line = this.#lineOf(process, queue);
    const entry = (before as Entry | undefined) ?? this.#entryOf(process, frame);
    if (before === undefined && this.#bytes > GIVEN_BACK_BYTES_MAX) {
      entry.finish('given-up');
      this.#report(line, [entry], 'bytes');
      return entry;
    }
    const at = line.entries.findLastIndex(({ number }) => number < entry.number) + 1;
    line.entries.splice(at, 0, entry);
    entry.line = line;
    this.#arm();
    if (line.entries.length === 1) this.#report(line);
    return entry;
  }

  /** The queue has room for a portion: sends it again. */
  again(process: string, queue: TenantFilter, portion: Portion): void {
    const line = this.#lineOf(process, queue);
    let [messages, bytes] = [0, 0];
    for (let entry = line.entries[0]; entry !== undefined; entry = line.entries[0]) {
      messages += 1;
      bytes += entry.bytes;
      if (messages > 1 && (messages > portion.messages || bytes > portion.bytes)) break;
      line.entries.shift();
      this.#send(entry);
    }
    this.#report(line);
  }

  /** The process has given back a message that is not known here. */
  unknown(process: string, queue: TenantFilter): void {
    this.#report(this.#lineOf(process, queue));
  }

  /** The process is dead. Returns the messages that waited for it, oldest first. */
  forget(process: string): readonly GivenBackMessage[] {
    const waiting: Entry[] = [];
    for (const [key, line] of this.#lines) {
      if (line.process !== process) continue;
      this.#lines.delete(key);
      waiting.push(...line.entries);
    }
    for (const entry of waiting) entry.line = undefined;
    return waiting.sort((one, other) => one.number - other.number);
  }

  stop(): void {
    this.#cancel();
  }

  #entryOf(process: string, frame: PublishFrame): Entry {
    const bytes = messageBytes(frame.message);
    this.#bytes += bytes;
    this.#lastNumber += 1;
    let ended: (end: End) => void = () => {};
    const end = new Promise<End>((resolve) => {
      ended = resolve;
    });
    let isOver = false;
    const finish = (how: End) => {
      if (!isOver) this.#bytes -= bytes;
      isOver = true;
      ended(how);
    };
    const deadlineMs = steadyNow(this.#clock) + GIVEN_BACK_MS_MAX;
    return { process, frame, bytes, number: this.#lastNumber, deadlineMs, line: undefined, end, finish };
  }

  /** If it finds no room again, it is back in its line before the process acknowledges it. */
  #send(entry: Entry): void {
    entry.line = undefined;
    const sent = this.#bus.request(entry.process, { ...entry.frame, isAgain: true });
    void sent.then(() => {
      if (entry.line === undefined) entry.finish('taken');
    });
  }

  #lineOf(process: string, queue: TenantFilter): Line {
    const key = lineKey(process, queue);
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const line: Line = { process, queue, entries: [] };
    this.#lines.set(key, line);
    return line;
  }

  #report(line: Line, givenUp: readonly Entry[] = [], lacking: 'time' | 'bytes' = 'time'): void {
    const { process, queue, entries } = line;
    if (entries.length === 0) this.#lines.delete(lineKey(process, queue));
    this.#bus.send(process, { type: 'waits', queue, left: entries.length, givenUp: givenUp.length });
    if (givenUp.length === 0) return;
    const { tenant, topicFilter: filter } = queue;
    this.#log.warn('rule-queue-full', { tenant, filter, process, lacking, count: givenUp.length });
  }

  /** All messages of a line wait for the same time, so the oldest is given up first. */
  #arm(): void {
    let firstMs = Infinity;
    for (const { entries } of this.#lines.values())
      firstMs = Math.min(firstMs, entries[0]?.deadlineMs ?? Infinity);
    if (firstMs >= this.#armedForMs) return;
    this.#cancel();
    this.#armedForMs = firstMs;
    this.#cancel = this.#clock.after(Math.max(0, firstMs - steadyNow(this.#clock)), () => {
      this.#armedForMs = Infinity;
      for (const line of [...this.#lines.values()]) this.#giveUp(line, steadyNow(this.#clock));
      this.#arm();
    });
  }

  #giveUp(line: Line, nowMs: number): void {
    const givenUp: Entry[] = [];
    for (
      let entry = line.entries[0];
      entry !== undefined && entry.deadlineMs <= nowMs;
      entry = line.entries[0]
    ) {
      line.entries.shift();
      entry.line = undefined;
      givenUp.push(entry);
      entry.finish('given-up');
    }
    if (givenUp.length > 0) this.#report(line, givenUp);
  }
}

function lineKey(process: string, queue: TenantFilter): string {
  return `${process}\0${keyOf(queue)}`;
}
