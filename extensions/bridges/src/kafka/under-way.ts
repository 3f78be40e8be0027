import { type Awaitable, type MessageOrigin, type OrderedPublish, PublishOrder } from '@apus/broker';

/** The place of a record. */
interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A place in Kafka from which a group goes on. */
export interface Offset extends Place {
  readonly leaderEpoch: number;
}

/** A record that is published. */
interface Taken extends Place {
  readonly bytes: number;
  /** @default a stream cannot tell it from others */
  readonly origin?: MessageOrigin | undefined;
}

/** A record with its place among those of its MQTT topic. */
export interface RecordTurn {
  readonly ordered: OrderedPublish;
  /** The number of the record before it, if that one may still be refused. */
  readonly behind: number | undefined;
  /** Resolves when those before it are stored, or given up. */
  readonly before: Promise<void> | undefined;
}

/** The last record of an MQTT topic that is under way. */
interface LastRecord {
  readonly origin: MessageOrigin | undefined;
  readonly order: PublishOrder;
  /** Resolves when its stream has been asked to append it, or when it is stored. */
  readonly asked: Promise<void>;
  readonly ended: Promise<void>;
  isOver: boolean;
}

interface Partition {
  readonly topic: string;
  readonly partition: number;
  /** Every record from this offset to `next` was taken. */
  from: bigint;
  /** The offset behind the newest record that was taken. */
  next: bigint;
  /** The last record that was handed over again. */
  again: bigint | undefined;
  /** Offsets of records that are not stored yet, in their order. */
  readonly waiting: Set<bigint>;
  committed: bigint | undefined;
}

/**
 * The records whose messages are under way to the broker's stores. Those with one MQTT topic go one after another, so
 * that a refused one is not overtaken: a stream may be asked to append the next one `behind` one that it has not
 * answered. The others go together.
 */
export class UnderWay {
  readonly #recordsMax: number;
  readonly #bytesMax: number;
  readonly #onFailure: (error: unknown) => void;
  readonly #partitions = new Map<string, Partition>();
  /** By MQTT topic. */
  readonly #last = new Map<string, LastRecord>();
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

  /** Whether a record was taken before. 'unsure': it may be another one, of a topic that was made anew. */
  hasTaken({ topic, partition, offset }: Place): boolean | 'unsure' {
    const found = this.#partitions.get(`${topic}:${partition}`);
    if (found === undefined || offset >= found.next) return false;
    return found.again !== undefined && offset > found.again ? true : 'unsure';
  }

  /** Kafka hands a record of the same topic over again. False: it was not taken before. */
  skip({ topic, partition, offset }: Place): boolean {
    const found = this.#partitions.get(`${topic}:${partition}`);
    if (found === undefined || offset < found.from) return false;
    found.again = offset;
    return true;
  }

  /** The topic was made anew under its name, and its offsets begin at 0. */
  forget(topic: string): void {
    for (const [name, each] of this.#partitions) if (each.topic === topic) this.#partitions.delete(name);
  }

  /** The offset before which every record is stored. */
  storedOf(topic: string, partition: number): bigint | undefined {
    const found = this.#partitions.get(`${topic}:${partition}`);
    return found && storedBefore(found);
  }

  /**
   * Publishes a record when those of its MQTT topic before it are stored, or it may be `behind` them. Resolves when there
   * is room for the next one.
   *
   * @param mqttTopic undefined: the record becomes no message
   * @param publish false: it was given up, and has to come again
   * @throws the error of a record before it that could not be published
   */
  async take(
    record: Taken,
    mqttTopic: string | undefined,
    publish: (turn: RecordTurn) => Awaitable<boolean>,
  ): Promise<void> {
    this.#throwFailure();
    const partition = this.#partitionOf(record);
    if (record.offset !== partition.next) partition.from = record.offset;
    partition.next = record.offset + 1n;
    partition.again = undefined;
    if (mqttTopic === undefined) return;
    partition.waiting.add(record.offset);
    const publishing = this.#publish(record, mqttTopic, publish);
    if (publishing === true) partition.waiting.delete(record.offset);
    if (!(publishing instanceof Promise)) return;
    this.#records += 1;
    this.#bytes += record.bytes;
    const end = () => {
      this.#records -= 1;
      this.#bytes -= record.bytes;
      for (const look of this.#waiters.splice(0)) look();
    };
    publishing.then(
      (isStored) => {
        if (isStored) partition.waiting.delete(record.offset);
        end();
      },
      (error: unknown) => {
        end();
        if (this.#failure === undefined) this.#onFailure(error);
        this.#failure ??= { error };
      },
    );
    await this.#until(() => this.#records < this.#recordsMax && this.#bytes < this.#bytesMax);
    this.#throwFailure();
  }

  #publish(
    { origin, bytes }: Taken,
    mqttTopic: string,
    publish: (turn: RecordTurn) => Awaitable<boolean>,
  ): Awaitable<boolean> {
    const before = this.#last.get(mqttTopic);
    const order = before?.order ?? new PublishOrder();
    let asked = (): void => {};
    const whenAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const begin = (behind?: number): Awaitable<boolean> => {
      const ordered = order.enter(bytes, { asked });
      const publishing = publish({ ordered, behind, before: before?.ended });
      if (!(publishing instanceof Promise)) ordered.end(true);
      else
        publishing.then(
          () => ordered.end(true),
          () => ordered.end(false),
        );
      return publishing;
    };
    const publishing = before === undefined ? begin() : follow(before, origin, begin);
    if (!(publishing instanceof Promise)) return publishing;
    const ended = publishing.then(() => {});
    const last: LastRecord = { origin, order, asked: whenAsked, ended, isOver: false };
    this.#last.set(mqttTopic, last);
    const end = () => {
      last.isOver = true;
      if (this.#last.get(mqttTopic) === last) this.#last.delete(mqttTopic);
      asked();
    };
    ended.then(end, end);
    return publishing;
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
      found = {
        topic,
        partition,
        from: offset,
        next: offset,
        again: undefined,
        waiting: new Set(),
        committed: offset,
      };
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

/** Begins with a record when the one before it is stored, or its stream has been asked for it. */
async function follow(
  before: LastRecord,
  origin: MessageOrigin | undefined,
  begin: (behind?: number) => Awaitable<boolean>,
): Promise<boolean> {
  const isOfSameSource = origin !== undefined && before.origin?.source === origin.source;
  await (isOfSameSource ? before.asked : before.ended);
  if (!before.isOver && isOfSameSource) return await begin(before.origin?.number);
  await before.ended;
  return await begin();
}
