import { type Awaitable, type MessageOrigin, type PublishRequest, reasonOf } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { BridgesContext } from '@apus/node';
import {
  Admin,
  Consumer,
  type ConsumerOptions,
  type Message,
  type MessagesStream,
} from '@platformatic/kafka';
import { newCounts, type StateKeeper } from '../bridge.ts';
import { type KafkaBridgeConfiguration, type KafkaInMapping, wholeTopic } from '../configuration/kafka.ts';
import { connectionOptions } from './connection.ts';
import { type KafkaRecord, requestOf } from './record.ts';
import { type Offset, type RecordTurn, UnderWay } from './under-way.ts';

/** The time until the next attempt to consume. */
const RESTART_MS = 1_000;
/** The time until the source asks a broker without room again. */
const PAUSE_MS = 200;
/** The interval of commits: after a crash the records since the last commit come again. */
const COMMIT_MS = 500;
/** The interval in which it looks for new topics, if the file does not name all. */
const TOPICS_MS = 30_000;
/** Topics of one bridge whose file does not name all. */
const TOPICS_MAX = 1_000;
/**
 * After the first time Kafka removes a dead member from its group, and after the second the others share its
 * partitions.
 */
const SESSION_TIMEOUT_MS = 10_000;
const REBALANCE_TIMEOUT_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** Bytes of one fetch; a larger record comes alone. */
const FETCH_BYTES_MAX = 4 * 1024 * 1024;
/** Records that have been fetched and wait. */
const FETCHED_MAX = 256;
/** Records whose messages are under way to the broker's stores. */
const UNDER_WAY_MAX = 256;
/** How long a consumer may take to leave its group. */
const LEAVE_MS_MAX = 3_000;
/** How long `stop` waits for records under way. Those that are not stored then come again. */
const FINISH_MS_MAX = 2_000;
/** How long `stop` waits in all, for the consumer to leave too. */
const STOP_MS_MAX = 5_000;

/** Before Kafka 2.8 all ids of topics are zero. */
const isId = (id: string | undefined): boolean => id !== undefined && !/^[0-]*$/.test(id);

export type SourceConsumer = Consumer<Buffer, Buffer, Buffer, Buffer>;
export type OpenConsumer = (options: ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) => SourceConsumer;

/** Publishes records of Kafka, and commits an offset when the broker has stored the messages of all before it. */
export class KafkaSource {
  readonly counts = { ...newCounts(), skipped: 0 };
  readonly #configuration: KafkaBridgeConfiguration;
  readonly #context: BridgesContext;
  readonly #state: StateKeeper;
  /** By topic. */
  #mappings: ReadonlyMap<string, KafkaInMapping>;
  #consumer: SourceConsumer | undefined;
  #isStopped = false;
  #waitsFor: string | undefined;
  /** Records that the broker has no room for. */
  #waiting = 0;
  #ended: Promise<void> = Promise.resolve();
  #underWay = this.#newUnderWay();
  #stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  /** The ids of topics: one that is deleted and made anew under its name has another id, and offsets from 0 on. */
  #topicIds: ReadonlyMap<string, string> = new Map();

  readonly #openConsumer: OpenConsumer;
  readonly #listTopics: () => Promise<readonly string[]>;

  constructor(
    configuration: KafkaBridgeConfiguration,
    context: BridgesContext,
    state: StateKeeper,
    openConsumer: OpenConsumer = (options) => new Consumer(options),
    listTopics = () => topicsOf(configuration),
  ) {
    this.#listTopics = listTopics;
    this.#openConsumer = openConsumer;
    this.#configuration = configuration;
    this.#context = context;
    this.#state = state;
    this.#mappings = new Map(configuration.in.map((mapping) => [mapping.topic, mapping]));
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Records that are not stored yet; undefined if Kafka does not answer. */
  async lag(): Promise<number | undefined> {
    const consumer = this.#consumer;
    if (consumer === undefined) return undefined;
    try {
      const latest = await consumer.listOffsets({ topics: [...this.#mappings.keys()] });
      let lag = 0n;
      for (const [topic, partitions] of latest) {
        for (const [partition, end] of partitions.entries()) {
          const position = this.#positionOf(topic, partition);
          if (position !== undefined && end > position) lag += end - position;
        }
      }
      return Number(lag);
    } catch {
      return undefined;
    }
  }

  /** Where the records begin that are not stored; undefined for a partition of another member of the group. */
  #positionOf(topic: string, partition: number): bigint | undefined {
    return (
      this.#underWay.storedOf(topic, partition) ?? this.#stream?.offsetsToFetch.get(`${topic}:${partition}`)
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.race([this.#finish(), this.#after(STOP_MS_MAX)]);
  }

  async #finish(): Promise<void> {
    await Promise.race([this.#underWay.ended(), this.#after(FINISH_MS_MAX)]);
    if (this.#consumer !== undefined) await this.#leave(this.#consumer);
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#consume();
      } catch (error) {
        if (!this.#isStopped) this.#state.set('disconnected', reasonOf(error));
      }
      if (!this.#isStopped) await this.#after(RESTART_MS);
    }
  }

  /** Consumes until the consumer fails or is stopped. Records whose offsets are not committed then come again. */
  async #consume(): Promise<void> {
    this.#underWay = this.#newUnderWay();
    this.#mappings = await this.#mappingsNow();
    if (this.#mappings.size === 0) throw new Error('Kafka has no such topic');
    const consumer = this.#openConsumer({
      ...connectionOptions(this.#configuration),
      groupId: this.#configuration.group,
      sessionTimeout: SESSION_TIMEOUT_MS,
      rebalanceTimeout: REBALANCE_TIMEOUT_MS,
      heartbeatInterval: HEARTBEAT_MS,
      autocommit: false,
      maxBytes: FETCH_BYTES_MAX,
      highWaterMark: FETCHED_MAX,
    });
    consumer.on('error' as never, () => {});
    // Before the others begin with its partitions.
    consumer.on('consumer:group:rebalance' as never, () => void this.#commitOrWarn(consumer));
    this.#consumer = consumer;
    try {
      const topics = [...this.#mappings.keys()];
      await this.#readTopicIds(consumer);
      const { from: fallbackMode } = this.#configuration;
      const stream = await consumer.consume({ topics, mode: 'committed', fallbackMode, autocommit: false });
      this.#stream = stream;
      this.#state.set('connected');
      const cancels = [
        this.#regularly(COMMIT_MS, () => this.#commitOrWarn(consumer)),
        this.#regularly(TOPICS_MS, () => this.#endForNewTopics(stream)),
      ];
      try {
        for await (const record of stream) await this.#take(consumer, record);
      } finally {
        for (const cancel of cancels) cancel();
        await this.#underWay.ended();
      }
    } finally {
      this.#consumer = undefined;
      // Kafka may be unreachable, and its client would wait for it.
      await Promise.race([this.#leave(consumer), this.#after(LEAVE_MS_MAX)]);
    }
  }

  /** Those of the file, or of the topics that Kafka has: one that was deleted there would end every consumer. */
  async #mappingsNow(): Promise<ReadonlyMap<string, KafkaInMapping>> {
    if (this.#configuration.topics === undefined) return this.#mappings;
    const mappings = new Map<string, KafkaInMapping>();
    for (const topic of await this.#listTopics()) {
      const mapping = wholeTopic(this.#configuration, topic);
      if (mapping !== undefined) mappings.set(topic, mapping);
    }
    if (mappings.size > TOPICS_MAX) throw new Error(`Kafka has more than ${TOPICS_MAX} such topics`);
    return mappings;
  }

  /** Another consumer takes them in. */
  async #endForNewTopics(stream: MessagesStream<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    const found = await this.#mappingsNow().catch(() => this.#mappings);
    const isNew = [...found.keys()].some((topic) => !this.#mappings.has(topic));
    if (isNew) stream.destroy(new Error('Kafka has new topics'));
  }

  async #leave(consumer: SourceConsumer): Promise<void> {
    try {
      await this.#commit(consumer);
      await consumer.close(true);
    } catch {
      // Kafka is unreachable, or the group has ended: the offsets that were committed before count.
    }
  }

  async #take(consumer: SourceConsumer, record: Message<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    if (this.#isStopped) return;
    const { topic, partition, offset } = record;
    const again = this.#underWay.hasTaken(record);
    const isSame = again === true || (again === 'unsure' && !(await this.#isAnew(consumer, topic)));
    if (isSame && this.#underWay.skip(record)) return;
    const request = this.#requestOf(record);
    const taken = { topic, partition, offset, bytes: bytesOf(record), origin: this.#originOf(record) };
    await this.#underWay.take(
      taken,
      request?.topic,
      (turn) => request === undefined || this.#publish({ ...request, origin: taken.origin }, turn),
    );
  }

  /**
   * An offset of the topic has gone back: where its id is another one, the topic was made anew under its name. Otherwise
   * the group was rebalanced, as by the death of a member that reads nothing, and begins where it has committed.
   */
  async #isAnew(consumer: SourceConsumer, topic: string): Promise<boolean> {
    const before = this.#topicIds;
    await this.#readTopicIds(consumer);
    const isSame = (name: string) => isId(before.get(name)) && this.#topicIds.get(name) === before.get(name);
    for (const [name, id] of before) if (isId(id) && !isSame(name)) this.#underWay.forget(name);
    return !isSame(topic);
  }

  async #readTopicIds(consumer: SourceConsumer): Promise<void> {
    const { topics } = await consumer.metadata({ topics: [...this.#mappings.keys()], forceUpdate: true });
    this.#topicIds = new Map(Array.from(topics, ([topic, { id }]) => [topic, id]));
  }

  /**
   * The record, however often Kafka hands it over: after a crash, a rebalance, or an earlier commit. Undefined where
   * Kafka has no ids of topics (before 2.8), so that the records of a topic that was made anew are not taken for the old
   * ones.
   */
  #originOf({ topic, partition, offset }: KafkaRecord): MessageOrigin | undefined {
    const id = this.#topicIds.get(topic);
    if (!isId(id)) return undefined;
    return { source: `kafka/${id}/${partition}`, number: Number(offset) };
  }

  /** The message for a record; undefined if the record cannot become one. */
  #requestOf(record: KafkaRecord): PublishRequest | undefined {
    const mapping = this.#mappings.get(record.topic);
    if (mapping === undefined) return undefined;
    const { topicLevelsMax, maximumPacketSize: publishBytesMax } = this.#context;
    const request = requestOf(record, mapping, this.#configuration, { topicLevelsMax, publishBytesMax });
    if (request === 'looped') {
      this.counts.looped += 1;
      return undefined;
    }
    return 'problem' in request ? this.#skip(record, request.problem) : request;
  }

  #skip({ topic, partition, offset }: KafkaRecord, error: string): undefined {
    this.counts.skipped += 1;
    const fields = { bridge: this.#configuration.name, topic, partition, offset: String(offset), error };
    this.#context.log.warn('bridge-record-skipped', fields);
  }

  /** True when the broker has stored the message, or never will; false when the source has been stopped before. */
  #publish(request: PublishRequest, { ordered, behind, before }: RecordTurn): Awaitable<boolean> {
    if (this.#isStopped) return false;
    const origin = request.origin && { ...request.origin, behind };
    const answer = this.#context.publish({ ...request, origin, ordered });
    if (answer instanceof Promise || answer instanceof Violation)
      return this.#published(request, answer, behind === undefined ? undefined : before);
    this.counts.forwarded += 1;
    return true;
  }

  /**
   * While the broker has no room the message waits, and so do the records behind it.
   *
   * @param before the message was `behind` another one, and is refused with it: it comes again when that one is stored
   */
  async #published(
    request: PublishRequest,
    first: ReturnType<BridgesContext['publish']>,
    before?: Promise<void>,
  ): Promise<boolean> {
    let isWaiting = false;
    try {
      let answer = await first;
      if (answer instanceof Violation && before !== undefined) {
        await before;
        if (this.#isStopped) return false;
        answer = await this.#context.publish(request);
      }
      for (; ; answer = await this.#context.publish(request)) {
        if (!(answer instanceof Violation)) {
          this.counts.forwarded += 1;
          return true;
        }
        if (answer.reasonCode !== ReasonCode.QuotaExceeded) return this.#refused(request, answer);
        if (!isWaiting) this.#waiting += 1;
        isWaiting = true;
        this.#waits(request.topic, answer.reason);
        await this.#after(PAUSE_MS);
        if (this.#isStopped) return false;
      }
    } finally {
      if (isWaiting) this.#waiting -= 1;
      if (this.#waiting === 0) this.#waitsFor = undefined;
    }
  }

  #refused({ topic }: PublishRequest, { reason: error }: Violation): true {
    this.counts.refused += 1;
    this.#context.log.warn('bridge-message-refused', { bridge: this.#configuration.name, topic, error });
    return true;
  }

  /** Called once for each time that the source has to wait. */
  #waits(topic: string, error: string): void {
    if (this.#waitsFor === error) return;
    this.#waitsFor = error;
    this.#state.lastError = error;
    this.#context.log.warn('bridge-waits', { bridge: this.#configuration.name, topic, error });
  }

  #regularly(intervalMs: number, does: () => Promise<void>): () => void {
    let cancel = (): void => {};
    let isOver = false;
    const next = (): void => {
      cancel = this.#context.clock.after(intervalMs, () => {
        void does().then(() => {
          if (!isOver) next();
        });
      });
    };
    next();
    return () => {
      isOver = true;
      cancel();
    };
  }

  async #commitOrWarn(consumer: SourceConsumer): Promise<void> {
    try {
      await this.#commit(consumer);
    } catch (error) {
      const { name: bridge } = this.#configuration;
      this.#context.log.warn('bridge-commit-failed', { bridge, error: reasonOf(error) });
    }
  }

  async #commit(consumer: SourceConsumer): Promise<void> {
    const underWay = this.#underWay;
    const offsets = underWay.moved().filter((each) => isOurs(consumer, each));
    if (offsets.length === 0) return;
    await consumer.commit({ offsets: [...offsets] });
    underWay.committed(offsets);
  }

  #after(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(delayMs, resolve));
  }

  #newUnderWay(): UnderWay {
    return new UnderWay(UNDER_WAY_MAX, FETCH_BYTES_MAX, (error) => this.#stream?.destroy(error as Error));
  }
}

/** The topics of Kafka but its own. */
async function topicsOf(configuration: KafkaBridgeConfiguration): Promise<readonly string[]> {
  const admin = new Admin(connectionOptions(configuration));
  try {
    return await admin.listTopics({ includeInternals: false });
  } finally {
    await admin.close();
  }
}

/** A late commit for a partition of another member would take its group back to where this one was. */
function isOurs({ assignments }: SourceConsumer, { topic, partition }: Offset): boolean {
  if (!assignments) return true;
  return assignments.some((each) => each.topic === topic && each.partitions.includes(partition));
}

function bytesOf({ key, value, headers }: KafkaRecord): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, text] of headers) bytes += name.length + text.length;
  return bytes;
}
