import type { Awaitable } from '@apus/broker';

/** A place in Kafka from which a group goes on. */
export interface Offset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly leaderEpoch: number;
}

/** A record that is published. */
interface Taken {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly bytes: number;
}

interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** The offset behind the newest record that was taken. */
  next: bigint;
  /** Offsets of records that are not stored yet, in their order. */
  readonly waiting: Set<bigint>;
  committed: bigint | undefined;
}

/**
 * The records whose messages are under way to the broker's stores. Those with one MQTT topic go one after another, so
 * that a refused one is not overtaken. The others go together.
 */
export class UnderWay {
  readonly #recordsMax: number;
  readonly #bytesMax: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #partitions = new Map<string, Partition>();
  /** The last record of each MQTT topic that is under way. */
  readonly #last = new Map<string, Promise<void>>();
  #records = 0;
  #bytes = 0;
  #waiters: (() => void)[] = [];
  #failure: { readonly error: unknown } | undefined;

  /**
   * Limits of what is under way. A larger record goes alone.
   *
   * @param onFailure called once, when a record could not be published: no other is taken then
   */
  constructor(recordsMax: number, bytesMax: number, onFailure: (error: unknown) => void) {
    this.#recordsMax = recordsMax;
    this.#bytesMax = bytesMax;
    this.#onFailure = onFailure;
  }

  /** The offset behind the newest record of a partition that was taken. */
  nextOf(topic: string, partition: number): bigint | undefined {
    return this.#partitions.get(`${topic}:${partition}`)?.next;
  }

  /** The offset before which every record is stored. */
  storedOf(topic: string, partition: number): bigint | undefined {
    const found = this.#partitions.get(`${topic}:${partition}`);
    return found && storedBefore(found);
  }

  /**
   * Publishes a record when those of its MQTT topic before it are stored. Resolves when there is room for the next one.
   *
   * @param mqttTopic undefined: the record becomes no message
   * @param publish false: it was given up, and has to come again
   * @throws the error of a record before it that could not be published
   */
  async take(record: Taken, mqttTopic: string | undefined, publish: () => Awaitable<boolean>): Promise<void> {
    this.#throwFailure();
    const partition = this.#partitionOf(record);
    partition.next = record.offset + 1n;
    if (mqttTopic === undefined) return;
    const before = this.#last.get(mqttTopic);
    partition.waiting.add(record.offset);
    const publishing = before === undefined ? publish() : before.then(publish);
    if (publishing === true) partition.waiting.delete(record.offset);
    if (!(publishing instanceof Promise)) return;
    this.#records += 1;
    this.#bytes += record.bytes;
    const ended = publishing.then((isStored) => {
      if (isStored) partition.waiting.delete(record.offset);
    });
    this.#last.set(mqttTopic, ended);
    const end = () => {
      if (this.#last.get(mqttTopic) === ended) this.#last.delete(mqttTopic);
      this.#records -= 1;
      this.#bytes -= record.bytes;
      for (const look of this.#waiters.splice(0)) look();
    };
    ended.then(end, (error: unknown) => {
      end();
      if (this.#failure === undefined) this.#onFailure(error);
      this.#failure ??= { error };
    });
    await this.#until(() => this.#records < this.#recordsMax && this.#bytes < this.#bytesMax);
    this.#throwFailure();
  }

  /** Resolves when nothing is under way. */
  async ended(): Promise<void> {
    await this.#until(() => this.#records === 0);
  }

  /** Where the group may go on: before each of these offsets every record is stored. Those of before that have moved. */
  moved(): readonly Offset[] {
    return Array.from(this.#partitions.values()).flatMap((each) => {
      const { topic, partition, committed } = each;
      const offset = storedBefore(each);
      return offset === committed ? [] : { topic, partition, offset, leaderEpoch: -1 };
    });
  }

  committed(offsets: readonly Offset[]): void {
    for (const { topic, partition, offset } of offsets) {
      const found = this.#partitions.get(`${topic}:${partition}`);
      if (found !== undefined) found.committed = offset;
    }
  }

  #partitionOf({ topic, partition, offset }: Taken): Partition {
    const name = `${topic}:${partition}`;
    let found = this.#partitions.get(name);
    if (found === undefined) {
      found = { topic, partition, next: offset, waiting: new Set(), committed: offset };
      this.#partitions.set(name, found);
    }
    return found;
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function storedBefore({ waiting, next }: Partition): bigint {
  for (const first of waiting) return first;
  return next;
}
