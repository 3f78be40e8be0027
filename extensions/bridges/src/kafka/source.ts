import { type MessageOrigin, type PublishRequest, reasonOf } from '@apus/broker';
import { ReasonCode, Violation } from '@apus/mqtt';
import type { BridgesContext } from '@apus/node';
import { Consumer, type ConsumerOptions, type Message, type MessagesStream } from '@platformatic/kafka';
import { newCounts, type StateKeeper } from '../bridge.ts';
import type { KafkaBridgeConfiguration, KafkaInMapping } from '../configuration/kafka.ts';
import { connectionOptions } from './connection.ts';
import { type KafkaRecord, requestOf } from './record.ts';

/** The time until the next attempt to consume. */
const RESTART_MS = 1_000;
/** The time until the source asks a broker without room again. */
const PAUSE_MS = 200;
/** The interval of commits: after a crash the records since the last commit come again. */
const COMMIT_MS = 500;
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
/** How long a consumer may take to leave its group. */
const LEAVE_MS_MAX = 3_000;
/** How long `stop` waits for the consumer to leave. */
const STOP_MS_MAX = 5_000;

export type SourceConsumer = Consumer<Buffer, Buffer, Buffer, Buffer>;
export type OpenConsumer = (options: ConsumerOptions<Buffer, Buffer, Buffer, Buffer>) => SourceConsumer;

type Offsets = Map<string, { topic: string; partition: number; offset: bigint; leaderEpoch: number }>;

/** Publishes records of Kafka one after another, and commits each offset when the broker has stored its message. */
export class KafkaSource {
  readonly counts = { ...newCounts(), skipped: 0 };
  readonly #configuration: KafkaBridgeConfiguration;
  readonly #context: BridgesContext;
  readonly #state: StateKeeper;
  readonly #mappings: ReadonlyMap<string, KafkaInMapping>;
  #consumer: Consumer<Buffer, Buffer, Buffer, Buffer> | undefined;
  #isStopped = false;
  #waitsFor: string | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** Offsets to commit. */
  #done: Offsets = new Map();
  #positions = new Map<string, bigint>();
  #stream: MessagesStream<Buffer, Buffer, Buffer, Buffer> | undefined;
  /** The ids of topics: one that is deleted and made anew under its name has another id, and offsets from 0 on. */
  #topicIds: ReadonlyMap<string, string> = new Map();

  readonly #openConsumer: OpenConsumer;

  constructor(
    configuration: KafkaBridgeConfiguration,
    context: BridgesContext,
    state: StateKeeper,
    openConsumer: OpenConsumer = (options) => new Consumer(options),
  ) {
    this.#openConsumer = openConsumer;
    this.#configuration = configuration;
    this.#context = context;
    this.#state = state;
    this.#mappings = new Map(configuration.in.map((mapping) => [mapping.topic, mapping]));
  }

  start(): void {
    this.#ended = this.#run();
  }

  /** Records that have not been consumed yet; undefined if Kafka does not answer. */
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

  /** The next offset; undefined for a partition of another member of the group. */
  #positionOf(topic: string, partition: number): bigint | undefined {
    return (
      this.#positions.get(`${topic}:${partition}`) ??
      this.#stream?.offsetsToFetch.get(`${topic}:${partition}`)
    );
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    const consumer = this.#consumer;
    const stopped = consumer === undefined ? this.#ended : this.#leave(consumer).then(() => this.#ended);
    await Promise.race([stopped, this.#after(STOP_MS_MAX)]);
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
    this.#done = new Map();
    this.#positions = new Map();
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
    this.#consumer = consumer;
    try {
      const topics = [...this.#mappings.keys()];
      await this.#readTopicIds(consumer);
      const { from: fallbackMode } = this.#configuration;
      const stream = await consumer.consume({ topics, mode: 'committed', fallbackMode, autocommit: false });
      this.#stream = stream;
      this.#state.set('connected');
      const cancel = this.#commitRegularly(consumer);
      try {
        for await (const record of stream) await this.#take(consumer, record);
      } finally {
        cancel();
      }
    } finally {
      this.#consumer = undefined;
      // Kafka may be unreachable, and its client would wait for it.
      await Promise.race([this.#leave(consumer), this.#after(LEAVE_MS_MAX)]);
    }
  }

  async #leave(consumer: Consumer<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    try {
      await this.#commit(consumer);
      await consumer.close(true);
    } catch {
      // Kafka is unreachable, or the group has ended: the offsets that were committed before count.
    }
  }

  async #take(consumer: SourceConsumer, record: Message<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    const { topic, partition, offset } = record;
    const name = `${topic}:${partition}`;
    if (offset < (this.#positions.get(name) ?? 0n)) await this.#readTopicIds(consumer);
    const request = this.#requestOf(record);
    if (request !== undefined) await this.#publish({ ...request, origin: this.#originOf(record) });
    if (this.#isStopped) return;
    this.#positions.set(name, offset + 1n);
    this.#done.set(name, { topic, partition, offset: offset + 1n, leaderEpoch: -1 });
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
    if (id === undefined || /^[0-]*$/.test(id)) return undefined;
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

  /**
   * Resolves when the broker has stored the message. While the broker has no room the consumer waits, and fetches no
   * more.
   */
  async #publish(request: PublishRequest): Promise<void> {
    while (!this.#isStopped) {
      const answered = this.#context.publish(request);
      const answer = answered instanceof Promise ? await answered : answered;
      if (!(answer instanceof Violation)) {
        this.counts.forwarded += 1;
        this.#waitsFor = undefined;
        return;
      }
      if (answer.reasonCode !== ReasonCode.QuotaExceeded) {
        this.counts.refused += 1;
        const { name: bridge } = this.#configuration;
        this.#context.log.warn('bridge-message-refused', {
          bridge,
          topic: request.topic,
          error: answer.reason,
        });
        return;
      }
      this.#waits(request.topic, answer.reason);
      await this.#after(PAUSE_MS);
    }
  }

  /** Called once for each time that the source has to wait. */
  #waits(topic: string, error: string): void {
    if (this.#waitsFor === error) return;
    this.#waitsFor = error;
    this.#state.lastError = error;
    this.#context.log.warn('bridge-waits', { bridge: this.#configuration.name, topic, error });
  }

  #commitRegularly(consumer: Consumer<Buffer, Buffer, Buffer, Buffer>): () => void {
    let cancel = (): void => {};
    let isOver = false;
    const next = (): void => {
      cancel = this.#context.clock.after(COMMIT_MS, () => {
        this.#commit(consumer)
          .catch((error: unknown) =>
            this.#context.log.warn('bridge-commit-failed', {
              bridge: this.#configuration.name,
              error: reasonOf(error),
            }),
          )
          .finally(() => {
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

  async #commit(consumer: Consumer<Buffer, Buffer, Buffer, Buffer>): Promise<void> {
    if (this.#done.size === 0) return;
    const done = this.#done;
    this.#done = new Map();
    try {
      await consumer.commit({ offsets: [...done.values()] });
    } catch (error) {
      // Keeps the offsets for the next commit, except for partitions that have advanced since.
      this.#done = new Map([...done, ...this.#done]);
      throw error;
    }
  }

  #after(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(delayMs, resolve));
  }
}
