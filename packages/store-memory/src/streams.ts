import {
  type AppendOptions,
  type Message,
  mayOpen,
  type PageLimit,
  pageOf,
  type StreamAppended,
  type StreamDeclaration,
  type StreamEntry,
  type StreamFigures,
  type StreamSince,
  type StreamStore,
  type StreamTail,
  type StreamTopicTail,
} from '@apus/broker';
import { matches } from '@apus/mqtt';
import { MemoryBudget } from './memory-budget.ts';
import { type StreamPages, StreamTopic, type TopicState } from './stream-topic.ts';

/** Topics looked at for each appended message: topics that are over are deleted as fast as new ones are opened. */
const SWEEP_LENGTH = 2;

/** Called with all changes, for a store that keeps them, and has the entries of histories then. */
export interface StreamJournal extends StreamPages {
  /** A topic has been opened, or has another epoch. */
  topic(topic: StreamTopic): void;
  appended(topic: StreamTopic, entry: StreamEntry): void;
  /** The entries of these numbers, or the whole topic, are not kept any more. */
  dropped(topic: StreamTopic, numbers: readonly number[], isWhole: boolean): void;
  /** The entries of these numbers are not the last values of their keys any more, and no history either. */
  released(topic: StreamTopic, numbers: readonly number[]): void;
}

/** Logs of topics in memory. Streams have no topic in common. */
export class MemoryStreams implements StreamStore {
  readonly #budget: MemoryBudget;
  readonly #topics = new Map<string, StreamTopic>();
  /** The topics of each tenant and stream, so that work for one tenant walks over no topic of another. */
  readonly #ofStream = new Map<string, Set<StreamTopic>>();
  /** How many topics of a stream were opened for a holder. */
  readonly #opened = new Map<string, number>();
  readonly #run: string;
  #epochs = 0;
  #sweep: Iterator<StreamTopic> = [].values();
  /** It is unknown what was published to a newly opened topic before this time. */
  sinceMs: number | undefined;
  /** To be set before there are topics. */
  journal: StreamJournal | undefined;
  /** Set if handlers publish side by side (`STABLE_AFTER_MS`). */
  stableAfterMs: number | undefined;

  constructor(budget = new MemoryBudget()) {
    this.#budget = budget;
    this.#run = Math.floor(Math.random() * 36 ** 8).toString(36);
  }

  append(
    tenant: string,
    stream: StreamDeclaration,
    message: Message,
    options: AppendOptions,
  ): StreamAppended | 'full' | 'repeated' {
    const { nowMs, isForced, holder, origin } = options;
    const found = origin && this.#find(tenant, message.topic)?.repeated(origin);
    if (found !== undefined) return found === 'repeated' ? found : { entry: found, isFound: true };
    if (!isForced && this.#budget.isStreamFull(tenant)) return 'full';
    const topic = this.#open(tenant, stream, { topic: message.topic, holder }, nowMs, isForced);
    if (topic === undefined) return 'full';
    const entry = topic.append(message, options, this.stableAfterMs);
    this.journal?.appended(topic, entry);
    this.#release(topic, nowMs);
    this.#trim(topic, nowMs);
    this.#sweepSome(nowMs);
    return { entry };
  }

  findAppended(tenant: string, topic: string, id: string): StreamAppended | undefined {
    const entry = this.#find(tenant, topic)?.find(id);
    return entry && { entry };
  }

  tail(
    tenant: string,
    stream: StreamDeclaration,
    name: string,
    nowMs: number,
    holder?: string,
  ): StreamTail | 'full' {
    const topic = this.#open(tenant, stream, { topic: name, holder }, nowMs, false);
    if (topic === undefined) return 'full';
    topic.usedAtMs = nowMs;
    return topic.tail;
  }

  firstKept(
    tenant: string,
    _stream: StreamDeclaration,
    { topic, last }: StreamTopicTail,
    from: number,
    nowMs: number,
  ): number {
    return Math.max(from, this.#find(tenant, topic)?.firstKept(nowMs) ?? last + 1);
  }

  since(
    tenant: string,
    _stream: StreamDeclaration,
    { topic, last }: StreamTopicTail,
    tsMs: number,
    nowMs: number,
  ): StreamSince {
    return this.#find(tenant, topic)?.since(tsMs, nowMs) ?? { number: last + 1, isComplete: false };
  }

  read(
    tenant: string,
    name: string,
    epoch: string,
    after: number,
    limit: PageLimit,
  ): readonly StreamEntry[] | 'lost' {
    const topic = this.#find(tenant, name);
    if (topic === undefined || topic.epoch !== epoch || !topic.reaches(after)) return 'lost';
    return pageOf(topic.after(after), limit);
  }

  lastValues(
    tenant: string,
    _stream: StreamDeclaration,
    { topic: name, epoch, last }: StreamTopicTail,
    after: number,
    limit: PageLimit,
    nowMs: number,
  ): readonly StreamEntry[] | 'lost' {
    const topic = this.#find(tenant, name);
    if (topic === undefined) return [];
    return topic.epoch === epoch ? pageOf(topic.lastValues(after, last, nowMs), limit) : 'lost';
  }

  topics(
    tenant: string,
    stream: StreamDeclaration,
    topicFilter: string,
    countMax: number,
    nowMs: number,
  ): readonly StreamTopicTail[] | 'too-many' {
    const tails: StreamTopicTail[] = [];
    for (const topic of this.all(tenant, stream)) {
      if (!matches(topicFilter, topic.topic) || topic.isOver(nowMs)) continue;
      if (tails.length === countMax) return 'too-many';
      tails.push({ topic: topic.topic, ...topic.tail });
    }
    return tails;
  }

  newEpoch(tenant: string, name: string): string | undefined {
    const topic = this.#find(tenant, name);
    if (topic === undefined) return undefined;
    topic.epoch = this.#nextEpoch();
    this.journal?.topic(topic);
    return topic.epoch;
  }

  figures(tenant: string, stream: StreamDeclaration): StreamFigures {
    let [topics, messages, bytes] = [0, 0, 0];
    for (const topic of this.all(tenant, stream)) {
      topics += 1;
      messages += topic.length;
      bytes += topic.bytes;
    }
    return { topics, messages, bytes };
  }

  all(tenant: string, stream: StreamDeclaration): Iterable<StreamTopic> {
    return this.#ofStream.get(streamKey(tenant, stream)) ?? [];
  }

  /** A topic from before a restart: its entries follow. */
  restore(stream: StreamDeclaration, state: TopicState, nowMs: number): StreamTopic {
    return this.#add(stream, state, nowMs);
  }

  /** All entries of the topic were restored. Returns the numbers of those that are not needed: there was a snapshot before. */
  endRestore(topic: StreamTopic): readonly number[] {
    const unneeded = topic.endRestore();
    this.#count(topic);
    return unneeded;
  }

  #find(tenant: string, topic: string): StreamTopic | undefined {
    return this.#topics.get(`${tenant}\0${topic}`);
  }

  #open(
    tenant: string,
    stream: StreamDeclaration,
    { topic, holder }: Pick<TopicState, 'topic' | 'holder'>,
    nowMs: number,
    isForced: boolean,
  ): StreamTopic | undefined {
    const found = this.#find(tenant, topic);
    if (found !== undefined) return found;
    const count = this.#ofStream.get(streamKey(tenant, stream))?.size ?? 0;
    const own = holder === undefined ? 0 : (this.#opened.get(holderKey(tenant, stream, holder)) ?? 0);
    if (!isForced && (!mayOpen(stream, count, own) || this.#budget.isStreamFull(tenant))) return undefined;
    this.sinceMs ??= nowMs;
    const completeSinceMs = this.sinceMs;
    const opened = this.#add(
      stream,
      { tenant, topic, epoch: this.#nextEpoch(), last: 0, completeSinceMs, holder },
      nowMs,
    );
    this.journal?.topic(opened);
    return opened;
  }

  #add(stream: StreamDeclaration, state: TopicState, nowMs: number): StreamTopic {
    const topic = new StreamTopic(stream, state, nowMs, this.journal);
    this.#topics.set(`${state.tenant}\0${state.topic}`, topic);
    const key = streamKey(state.tenant, stream);
    this.#ofStream.set(key, (this.#ofStream.get(key) ?? new Set()).add(topic));
    this.#count(topic);
    this.#countOpened(topic, 1);
    return topic;
  }

  #count(topic: StreamTopic, bytes = topic.memoryBytes): void {
    this.#budget.changeStreamed(topic.tenant, bytes - topic.countedBytes);
    topic.countedBytes = bytes;
  }

  #countOpened({ tenant, stream, holder }: StreamTopic, by: 1 | -1): void {
    if (holder === undefined) return;
    const key = holderKey(tenant, stream, holder);
    const count = (this.#opened.get(key) ?? 0) + by;
    if (count === 0) this.#opened.delete(key);
    else this.#opened.set(key, count);
  }

  /** Never used before, in this process or another one. */
  #nextEpoch(): string {
    this.#epochs += 1;
    return `${this.#run}${this.#epochs.toString(36).padStart(4, '0')}`;
  }

  #trim(topic: StreamTopic, nowMs: number): void {
    const dropped = topic.trim(nowMs);
    if (dropped.length > 0) this.#dropped(topic, dropped, false);
    this.#count(topic);
  }

  #release(topic: StreamTopic, nowMs: number): void {
    const released = topic.takeReleased(nowMs);
    if (released.length > 0) this.journal?.released(topic, released);
  }

  #dropped(topic: StreamTopic, numbers: readonly number[], isWhole: boolean): void {
    const unkept = numbers.filter((number) => !topic.isValue(number));
    this.journal?.dropped(topic, unkept, isWhole);
  }

  #sweepSome(nowMs: number): void {
    for (let left = SWEEP_LENGTH; left > 0; left -= 1) {
      const next = this.#sweep.next();
      if (next.done) {
        this.#sweep = this.#topics.values();
        return;
      }
      this.#release(next.value, nowMs);
      if (next.value.isOver(nowMs)) this.#forget(next.value);
      else this.#trim(next.value, nowMs);
    }
  }

  #forget(topic: StreamTopic): void {
    this.#topics.delete(`${topic.tenant}\0${topic.topic}`);
    const key = streamKey(topic.tenant, topic.stream);
    const others = this.#ofStream.get(key);
    others?.delete(topic);
    if (others?.size === 0) this.#ofStream.delete(key);
    this.sinceMs = Math.max(this.sinceMs ?? 0, topic.usedAtMs + 1);
    this.#count(topic, 0);
    this.#countOpened(topic, -1);
    this.#dropped(topic, topic.numbers, true);
  }
}

function streamKey(tenant: string, { name }: StreamDeclaration): string {
  return `${tenant}\0${name}`;
}

function holderKey(tenant: string, stream: StreamDeclaration, holder: string): string {
  return `${streamKey(tenant, stream)}\0${holder}`;
}
