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
import { streamEntryCodec, streamIndexCodec, streamTopicCodec } from './codec.ts';
import type { JournalContent } from './journal.ts';
import {
  firstNumberOf,
  Kind,
  STREAMS_CLOSED_KEY,
  STREAMS_SINCE_KEY,
  secondNumberOf,
  streamEntryKey,
  streamIndexKey,
  streamTopicKey,
} from './keys.ts';
import { INDEX_LENGTH } from './limits.ts';
import { RecentEntries } from './recent-entries.ts';
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
 * Logs of topics on the disk, with their index in memory. A message is on the disk before its publisher is answered,
 * and may reach subscribers before that. So a crash may lose the end of a log that a subscriber has seen. The store
 * notes that it was closed; if the note is missing at the start, each topic begins another epoch. Behind a gated writer
 * no subscriber sees what a crash may lose.
 */
export class DiskStreams implements StreamStore, StreamJournal {
  readonly #context: DiskStreamsContext;
  readonly #recent = new RecentEntries();
  readonly #numbers = new Map<StreamTopic, number>();
  #lastNumber = 0;

  private constructor(context: DiskStreamsContext) {
    this.#context = context;
  }

  static open(context: DiskStreamsContext): DiskStreams {
    const streams = new DiskStreams(context);
    context.memory.journal = streams;
    streams.#restore();
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
    const { tenant, epoch, last, completeSinceMs, holder, origins, first, highestId } = topic;
    const stored = {
      tenant,
      topic: topic.topic,
      epoch,
      last,
      completeSinceMs,
      holder,
      origins: [...origins],
      first,
      highestId,
    };
    this.#context.writer.put(streamTopicKey(this.#numberOf(topic)), streamTopicCodec.encode(stored));
  }

  appended(topic: StreamTopic, entry: StreamEntry): void {
    const key = streamEntryKey(this.#numberOf(topic), entry.number);
    this.#context.writer.put(key, streamEntryCodec.encode(entry));
    this.#recent.set(key, entry);
    if (entry.number % INDEX_LENGTH === 0) this.#saveIndex(topic, entry.number + 1 - INDEX_LENGTH);
  }

  /** The topic as well: a start learns its origins from there. It has to read each entry that may be a value. */
  #saveIndex(topic: StreamTopic, from: number): void {
    if (topic.stream.snapshot || from < topic.first) return;
    const key = streamIndexKey(this.#numberOf(topic), from);
    this.#context.writer.put(key, streamIndexCodec.encode(topic.index(from)));
    this.topic(topic);
  }

  *entries(topic: StreamTopic, from: number): Generator<StreamEntry, void, undefined> {
    const { epoch } = topic;
    const topicNumber = this.#numberOf(topic);
    for (let number = from; number <= topic.last; ) {
      const recent = this.#recent.get(streamEntryKey(topicNumber, number));
      const entries = recent === undefined ? this.#stored(topicNumber, number) : [recent];
      for (const entry of entries) {
        yield entry.epoch === epoch ? entry : { ...entry, epoch };
        number += 1;
      }
    }
  }

  /** The next entries that are not among the recent ones: those on the disk, or one that waits for a commit. */
  *#stored(topicNumber: number, from: number): Generator<StreamEntry, void, undefined> {
    const { content, writer } = this.#context;
    const keyOf = (number: number) => streamEntryKey(topicNumber, number);
    const read = (key: string, bytes: Uint8Array, number: number): StreamEntry => {
      const entry = { ...readRecord(content, key, () => streamEntryCodec.decode(bytes)), epoch: '', number };
      this.#recent.set(key, entry);
      return entry;
    };
    let number = from;
    for (const [key, bytes] of content.scan(Kind.StreamEntry, keyOf(from))) {
      if (key !== keyOf(number) || this.#recent.get(key) !== undefined) break;
      yield read(key, bytes, number);
      number += 1;
    }
    if (number > from) return;
    const key = keyOf(from);
    const bytes = writer.pending(key);
    if (bytes === undefined) throw content.damage(`the record ${key}`, new Error('it is missing'));
    yield read(key, bytes, from);
  }

  /** The entries last: after a crash between two batches the topic says which of them are not needed. */
  dropped(topic: StreamTopic, numbers: readonly number[], isWhole: boolean): void {
    if (!isWhole) this.topic(topic);
    else {
      this.#since();
      this.#context.writer.remove(streamTopicKey(this.#numberOf(topic)));
    }
    this.released(topic, numbers);
    if (isWhole) this.#numbers.delete(topic);
  }

  released(topic: StreamTopic, numbers: readonly number[]): void {
    const topicNumber = this.#numberOf(topic);
    const { writer } = this.#context;
    for (const number of numbers) {
      const key = streamEntryKey(topicNumber, number);
      writer.remove(key);
      this.#recent.delete(key);
      if (number % INDEX_LENGTH === 0) writer.remove(streamIndexKey(topicNumber, number + 1 - INDEX_LENGTH));
    }
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
    if (since !== undefined && this.#isUsed) memory.sinceMs = Number(Buffer.from(since).toString());
    else if (this.#isUsed) this.#since();
    else for (const key of marks.keys()) writer.remove(key);
    const topics = this.#restoreTopics();
    this.#restoreIndex(topics);
    this.#restoreEntries(topics);
    if (!this.#isUsed) return;
    if (marks.has(STREAMS_CLOSED_KEY)) writer.remove(STREAMS_CLOSED_KEY);
    else if (!writer.isGated) for (const { tenant, topic } of topics.values()) memory.newEpoch(tenant, topic);
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

  #restoreIndex(topics: ReadonlyMap<number, StreamTopic>): void {
    const { content, writer } = this.#context;
    for (const [key, bytes] of content.scan(Kind.StreamIndex)) {
      const topic = topics.get(firstNumberOf(key));
      const isNext =
        topic?.stream.snapshot === false &&
        topic.restoreIndex(
          secondNumberOf(key),
          readRecord(content, key, () => streamIndexCodec.decode(bytes)),
        );
      if (!isNext) writer.remove(key);
    }
  }

  #restoreEntries(topics: ReadonlyMap<number, StreamTopic>): void {
    let from: string | undefined = Kind.StreamEntry;
    while (from !== undefined) from = this.#restoreEntriesFrom(topics, from);
    for (const topic of topics.values()) this.released(topic, this.#context.memory.endRestore(topic));
  }

  /** Returns the key to go on from, behind entries that the index has. */
  #restoreEntriesFrom(topics: ReadonlyMap<number, StreamTopic>, from: string): string | undefined {
    const { content, writer } = this.#context;
    for (const [key, bytes] of content.scan(Kind.StreamEntry, from)) {
      const [topicNumber, number] = [firstNumberOf(key), secondNumberOf(key)];
      const topic = topics.get(topicNumber);
      if (topic === undefined || (topic.length > 0 && number < topic.first)) {
        writer.remove(key);
        continue;
      }
      const next = topic.first + topic.length;
      if (topic.length > 0 && number < next) return streamEntryKey(topicNumber, next);
      const stored = readRecord(content, key, () => streamEntryCodec.decode(bytes));
      topic.restore({ ...stored, epoch: topic.epoch, number });
    }
    return undefined;
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
