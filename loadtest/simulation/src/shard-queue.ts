/** The messages of one frame for one shard of a wide filter. */
export interface Job {
  /** Recipients of the shard that have not been served. */
  recipients: number;
  readonly publishedAtMs: readonly number[];
}

/** The jobs of one shard that a worker gets: the oldest, in their order. */
export interface ShardJobs {
  readonly shard: string;
  readonly jobs: Job[];
}

/**
 * An SQS FIFO queue whose message groups are shards. A worker that gets jobs of a shard has it alone until it gives it
 * back. A batch has as many jobs of the first shard as there are, and only then some of the next.
 */
export class ShardQueue {
  readonly #batchSize: number;
  readonly #waiting = new Map<string, Job[]>();
  readonly #taken = new Set<string>();
  /** Shards that have jobs and no worker. */
  readonly #ready: string[] = [];

  constructor(batchSize: number) {
    this.#batchSize = batchSize;
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  put(shard: string, job: Job): void {
    const jobs = this.#waiting.get(shard);
    if (jobs !== undefined) {
      jobs.push(job);
      return;
    }
    this.#waiting.set(shard, [job]);
    if (!this.#taken.has(shard)) this.#ready.push(shard);
  }

  take(): readonly ShardJobs[] {
    const batch: ShardJobs[] = [];
    let room = this.#batchSize;
    while (room > 0) {
      const shard = this.#ready.shift();
      if (shard === undefined) break;
      const waiting = this.#waiting.get(shard) ?? [];
      const jobs = waiting.splice(0, room);
      if (waiting.length === 0) this.#waiting.delete(shard);
      this.#taken.add(shard);
      batch.push({ shard, jobs });
      room -= jobs.length;
    }
    return batch;
  }

  /** The shard is free again; its unfinished jobs come first. */
  giveBack({ shard, jobs }: ShardJobs): void {
    const behind = this.#waiting.get(shard) ?? [];
    this.#taken.delete(shard);
    if (jobs.length + behind.length === 0) return;
    this.#waiting.set(shard, [...jobs, ...behind]);
    this.#ready.push(shard);
  }
}
