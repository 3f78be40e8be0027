import type { SinkProducer, SourceConsumer } from '@apus/bridges/testing';

const PARTITIONS = 2;
/** The probability of a failed call while faults strike. */
const FAILS = 0.15;

interface FakeRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer;
  readonly value: Buffer;
  readonly headers: Map<Buffer, Buffer>;
}

/** A process that uses Kafka: once it is dead, its calls have no effect. */
export interface Life {
  isOver: boolean;
}

/**
 * The part of Kafka that a source and a sink use, with its faults: it is unavailable for a while, calls fail before and
 * after their effect, and a consumer begins again at the last committed offset.
 */
export class FakeKafka {
  readonly #random: () => number;
  readonly #partitions: FakeRecord[][] = Array.from({ length: PARTITIONS }, () => []);
  readonly #committed = new Map<number, bigint>();
  hasFaults = true;
  isAway = false;
  faults = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  append(topic: string, key: Buffer, value: Buffer): void {
    const partition = (key.at(-1) ?? 0) % PARTITIONS;
    const log = this.#partitions[partition] ?? [];
    log.push({ topic, partition, offset: BigInt(log.length), key, value, headers: new Map() });
  }

  /** Values of a key in the order of its partition. */
  values(key: string): string[] {
    return this.#partitions
      .flat()
      .filter((record) => record.key.toString() === key)
      .map(({ value }) => value.toString());
  }

  producer(life: Life): SinkProducer {
    const send = async ({ messages }: { messages: readonly FakeRecord[] }): Promise<void> => {
      await turn();
      this.#mayFail('before');
      if (life.isOver) return await never();
      for (const { topic, key, value } of messages) this.append(topic, key, value);
      this.#mayFail('after');
    };
    return { send, metadata: async () => this.#mayFail('before'), close: async () => {} } as never;
  }

  consumer(life: Life): SourceConsumer {
    let isClosed = false;
    const records = this.#records(() => isClosed || life.isOver);
    return {
      on: () => {},
      metadata: async () => {
        this.#mayFail('before');
        return { topics: new Map([['t', { id: 'b2f1e6a4-0000-4000-8000-000000000001' }]]) };
      },
      consume: async () => {
        this.#mayFail('before');
        return Object.assign(records, { offsetsToFetch: new Map(), destroy() {} });
      },
      commit: async ({ offsets }: { offsets: readonly { partition: number; offset: bigint }[] }) => {
        this.#mayFail('before');
        if (life.isOver) return await never();
        for (const { partition, offset } of offsets) this.#committed.set(partition, offset);
        this.#mayFail('after');
      },
      close: async () => {
        isClosed = true;
      },
    } as never;
  }

  /** Takes partitions in turn, each from its committed offset. */
  async *#records(isOver: () => boolean): AsyncGenerator<FakeRecord> {
    const next = this.#partitions.map((_, partition) => Number(this.#committed.get(partition) ?? 0n));
    while (!isOver()) {
      await turn();
      if (isOver()) return;
      // A session has timed out, or the cluster is unavailable.
      if (this.isAway || this.#draws(FAILS / 3)) throw new Error('the group has been left');
      const partition = Math.floor(this.#random() * PARTITIONS);
      const record = this.#partitions[partition]?.[next[partition] ?? 0];
      if (record === undefined) continue;
      next[partition] = (next[partition] ?? 0) + 1;
      yield record;
    }
  }

  #mayFail(when: 'before' | 'after'): void {
    if (this.isAway && when === 'before') throw new Error('Kafka is away');
    if (this.#draws(FAILS)) throw new Error(`a call has failed ${when} its effect`);
  }

  #draws(chance: number): boolean {
    const isStruck = this.hasFaults && this.#random() < chance;
    if (isStruck) this.faults += 1;
    return isStruck;
  }
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** The process has died in the middle of a call. */
function never(): Promise<never> {
  return new Promise(() => {});
}
