import type {
  AppendOptions,
  Awaitable,
  Clock,
  Message,
  MessageId,
  PageLimit,
  StreamAppended,
  StreamDeclaration,
  StreamDeclarations,
  StreamEntry,
  StreamFigures,
  StreamSince,
  StreamStore,
  StreamTail,
  StreamTopicTail,
} from '@apus/broker';
import type { MemoryStreams, StreamJournal, StreamTopic } from '@apus/store-memory';
import { streamEntryCodec, streamTopicCodec } from './codec.ts';
import type { JournalContent } from './journal.ts';
import {
  firstNumberOf,
  Kind,
  STREAMS_CLOSED_KEY,
  STREAMS_SINCE_KEY,
  secondNumberOf,
  streamEntryKey,
  streamTopicKey,
} from './keys.ts';
import type { Writer } from './writer.ts';

/** Everything of a stream store that is on the disk. */
export interface DiskStreamsContext {
  readonly content: JournalContent;
  readonly writer: Writer;
  readonly memory: MemoryStreams;
  readonly clock: Clock;
  /** Topics of no declared stream are removed. */
  readonly declared: StreamDeclarations;
}

/**
 * Logs of topics in memory and on the disk. A message is on the disk before its publisher is answered, and may reach
 * subscribers before that. So a crash may lose the end of a log that a subscriber has seen. The store notes that it
 * was closed; if the note is missing at the start, each topic begins another epoch. Behind a gated writer no subscriber
 * sees what a crash may lose.
 */
export class DiskStreams implements StreamStore, StreamJournal {
  readonly #context: DiskStreamsContext;
  readonly #numbers = new Map<StreamTopic, number>();
  #lastNumber = 0;

  private constructor(context: DiskStreamsContext) {
    this.#context = context;
  }

  static open(context: DiskStreamsContext): DiskStreams {
    const streams = new DiskStreams(context);
    streams.#restore();
    context.memory.journal = streams;
    return streams;
  }

  /** Marks the streams on the disk as complete. To be called before the writer is closed. */
  close(): void {
    if (!this.#isUsed) return;
    this.#context.writer.put(STREAMS_CLOSED_KEY, Buffer.from('1'));
    this.#since();
  }

  set stableAfterMs(ms: number | undefined) {
    this.#context.memory.stableAfterMs = ms;
  }

  append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): StreamAppended | 'full' | 'repeated' {
    const { memory, writer } = this.#context;
    writer.assertWorking();
    const appended = memory.append(tenant, stream, message, options);
    if (typeof appended === 'string') return appended;
    return written(appended, message.qos > 0 ? writer.durable(undefined) : writer.accepted(undefined));
  }

  findAppended(tenant: string, topic: string, id: MessageId): StreamAppended | undefined {
    const { memory, writer } = this.#context;
    const found = memory.findAppended(tenant, topic, id);
    return found && written(found, writer.durable(undefined));
  }

  tail(
    tenant: string,
    stream: StreamDeclaration,
    topic: string,
    nowMs: number,
    holder?: string,
  ): StreamTail | 'full' {
    return this.#context.memory.tail(tenant, stream, topic, nowMs, holder);
  }

  firstKept(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    from: number,
    nowMs: number,
  ): number {
    return this.#context.memory.firstKept(tenant, stream, tail, from, nowMs);
  }

  since(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): StreamSince {
    return this.#context.memory.since(tenant, stream, tail, tsMs, nowMs);
  }

  read(
    tenant: string,
    topic: string,
    epoch: string,
    after: number,
    limit: PageLimit,
  ): readonly StreamEntry[] | 'lost' {
    return this.#context.memory.read(tenant, topic, epoch, after, limit);
  }

  lastValues(
    tenant: string,
    stream: StreamDeclaration,
    tail: StreamTopicTail,
    after: number,
    limit: PageLimit,
    nowMs: number,
  ): readonly StreamEntry[] | 'lost' {
    return this.#context.memory.lastValues(tenant, stream, tail, after, limit, nowMs);
  }

  topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): readonly StreamTopicTail[] | 'too-many' {
    return this.#context.memory.topics(tenant, stream, topicFilter, countMax, nowMs);
  }

  newEpoch(tenant: string, topic: string): Awaitable<string | undefined> {
    return this.#context.writer.durable(this.#context.memory.newEpoch(tenant, topic));
  }

  figures(tenant: string, stream: StreamDeclaration): StreamFigures {
    return this.#context.memory.figures(tenant, stream);
  }

  topic(topic: StreamTopic): void {
    const { tenant, epoch, last, completeSinceMs, holder, origins } = topic;
    const stored = {
      tenant,
      topic: topic.topic,
      epoch,
      last,
      completeSinceMs,
      holder,
      origins: [...origins],
    };
    this.#context.writer.put(streamTopicKey(this.#numberOf(topic)), streamTopicCodec.encode(stored));
  }

  appended(topic: StreamTopic, entry: StreamEntry): void {
    const key = streamEntryKey(this.#numberOf(topic), entry.number);
    this.#context.writer.put(key, streamEntryCodec.encode(entry));
  }

  dropped(topic: StreamTopic, entries: readonly StreamEntry[], isWhole: boolean): void {
    const number = this.#numberOf(topic);
    for (const entry of entries) this.#context.writer.remove(streamEntryKey(number, entry.number));
    if (!isWhole) {
      this.topic(topic);
      return;
    }
    this.#context.writer.remove(streamTopicKey(number));
    this.#numbers.delete(topic);
    this.#since();
  }

  released(topic: StreamTopic, entries: readonly StreamEntry[]): void {
    const number = this.#numberOf(topic);
    for (const entry of entries) this.#context.writer.remove(streamEntryKey(number, entry.number));
  }

  /** A directory without streams has no marks either. */
  get #isUsed(): boolean {
    return this.#context.declared.all.length > 0;
  }

  #since(): void {
    const { memory, clock, writer } = this.#context;
    memory.sinceMs ??= clock.now();
    writer.put(STREAMS_SINCE_KEY, Buffer.from(String(memory.sinceMs)));
  }

  #numberOf(topic: StreamTopic): number {
    const known = this.#numbers.get(topic);
    if (known !== undefined) return known;
    this.#lastNumber += 1;
    this.#numbers.set(topic, this.#lastNumber);
    return this.#lastNumber;
  }

  #restore(): void {
    const { content, writer, memory } = this.#context;
    const marks = new Map(content.scan(Kind.StreamMark));
    const since = marks.get(STREAMS_SINCE_KEY);
    if (since !== undefined && this.#isUsed) memory.sinceMs = Number(since.toString());
    else if (this.#isUsed) this.#since();
    else for (const key of marks.keys()) writer.remove(key);
    const topics = this.#restoreTopics();
    this.#restoreEntries(topics);
    if (!this.#isUsed) return;
    if (marks.has(STREAMS_CLOSED_KEY)) writer.remove(STREAMS_CLOSED_KEY);
    else if (!writer.isGated) for (const { tenant, topic } of topics.values()) this.#endEpoch(tenant, topic);
  }

  #endEpoch(tenant: string, topic: string): void {
    const { memory } = this.#context;
    memory.journal = this;
    memory.newEpoch(tenant, topic);
  }

  #restoreTopics(): ReadonlyMap<number, StreamTopic> {
    const { content, writer, memory, declared, clock } = this.#context;
    const topics = new Map<number, StreamTopic>();
    for (const [key, bytes] of content.scan(Kind.StreamTopic)) {
      const stored = readRecord(content, key, () => streamTopicCodec.decode(bytes));
      const stream = declared.covering(stored.topic);
      const number = firstNumberOf(key);
      this.#lastNumber = Math.max(this.#lastNumber, number);
      if (stream === undefined) {
        writer.remove(key);
        continue;
      }
      const topic = memory.restore(stream, stored, clock.now());
      topics.set(number, topic);
      this.#numbers.set(topic, number);
    }
    return topics;
  }

  #restoreEntries(topics: ReadonlyMap<number, StreamTopic>): void {
    const { content, writer, memory } = this.#context;
    for (const [key, bytes] of content.scan(Kind.StreamEntry)) {
      const topic = topics.get(firstNumberOf(key));
      if (topic === undefined) {
        writer.remove(key);
        continue;
      }
      const stored = readRecord(content, key, () => streamEntryCodec.decode(bytes));
      memory.restoreEntry(topic, { ...stored, epoch: topic.epoch, number: secondNumberOf(key) });
    }
    for (const topic of topics.values()) this.released(topic, memory.endRestore(topic));
  }
}

function written(appended: StreamAppended, done: Awaitable<undefined>): StreamAppended {
  if (done === undefined) return appended;
  // Subscribers are sent the message first, so the disk may fail before a caller waits for it.
  done.catch(() => {});
  return { ...appended, written: done };
}

/** Every error while a record is read is due to its content. */
function readRecord<T>(content: JournalContent, key: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw content.damage(`the record ${key}`, error);
  }
}
