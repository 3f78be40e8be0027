import { Readable } from 'node:stream';

export const PARTITIONS = 2;

/** Partitions of a topic, and the group of the processes that read them. One process has all at a time. */
export class KafkaGroup {
  readonly partitions: string[][] = Array.from({ length: PARTITIONS }, () => []);
  readonly #committed = new Map<number, number>();
  readonly #commitsAtOnce: boolean;
  #member = 0;
  #feed: { readonly stream: Readable; readonly next: number[] } | undefined;

  /** @param commitsAtOnce a mistake: what is handed over counts as stored */
  constructor(commitsAtOnce = false) {
    this.#commitsAtOnce = commitsAtOnce;
  }

  get stored(): number {
    return [...this.#committed.values()].reduce((sum, offset) => sum + offset, 0);
  }

  produce(partition: number, key: string): void {
    this.partitions[partition]?.push(key);
    this.deliver();
  }

  /** Hands what is new to the process that has the partitions. */
  deliver(): void {
    const feed = this.#feed;
    if (feed === undefined || feed.stream.destroyed) return;
    for (const [partition, keys] of this.partitions.entries())
      for (let offset = feed.next[partition] ?? 0; offset < keys.length; offset += 1) {
        const key = Buffer.from(keys[offset] ?? '');
        const place = { topic: 't', partition, offset: BigInt(offset) };
        feed.stream.push({ ...place, key, value: Buffer.from(`${partition} ${offset}`), headers: new Map() });
        feed.next[partition] = offset + 1;
        if (this.#commitsAtOnce) this.#committed.set(partition, offset + 1);
      }
  }

  /** The same process has the partitions again, from where it has committed. */
  rebalance(): void {
    if (this.#feed === undefined) return;
    for (const partition of this.partitions.keys())
      this.#feed.next[partition] = this.#committed.get(partition) ?? 0;
    this.deliver();
  }

  breakConnection(): void {
    this.#feed?.stream.destroy(new Error('Kafka is away'));
  }

  /** For one process: a consumer, which has the partitions until another one opens. */
  open(life: { readonly isDead: boolean } = { isDead: false }) {
    this.#member += 1;
    const member = this.#member;
    const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
    const stream = Object.assign(new Readable({ objectMode: true, read() {} }), {
      offsetsToFetch: new Map(),
    });
    const isCurrent = () => this.#member === member;
    return {
      get assignments() {
        return isCurrent() ? [{ topic: 't', partitions: all }] : [];
      },
      on() {},
      metadata: async () => ({ topics: new Map([['t', { id: 'one' }]]) }),
      consume: async () => {
        if (!isCurrent()) return stream;
        this.#feed = { stream, next: all.map((partition) => this.#committed.get(partition) ?? 0) };
        queueMicrotask(() => this.deliver());
        return stream;
      },
      commit: async ({ offsets }: { offsets: { partition: number; offset: bigint }[] }) => {
        if (this.#commitsAtOnce || life.isDead) return;
        for (const { partition, offset } of offsets) this.#committed.set(partition, Number(offset));
      },
      close: async () => void stream.push(null),
    } as never;
  }
}
