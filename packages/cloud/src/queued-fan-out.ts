import type { FanOut, Message, WideFilter } from '@apus/broker';
import { encodeMessage } from '@apus/store-dynamodb';
import { encodeJob, type FanOutJob, groupOf, jobIdOf, type Shard } from './fan-out-job.ts';
import type { JobQueue, QueueEntry } from './job-queue.ts';

/** Bytes of messages in one job: several jobs share a batch of 1 MiB, and base64 adds a third. */
const JOB_BYTES_MAX = 192 * 1024;

/** Whether so much waits in the queue as a whole that nothing more is put there. */
export interface Backlog {
  isFull(): Promise<boolean>;
}

/**
 * Wide filters are served by workers: what a frame publishes is gathered here, and leaves when the frame has been
 * handled as one job for each shard, before the frame's reply promises anything.
 */
export class QueuedFanOut implements FanOut {
  readonly #queue: JobQueue;
  readonly #backlog: Backlog;
  #shards = new Map<string, Gathered>();

  constructor(queue: JobQueue, backlog: Backlog) {
    this.#queue = queue;
    this.#backlog = backlog;
  }

  async accept(message: Message, filters: readonly WideFilter[]): Promise<boolean> {
    if (filters.some(({ isBehind }) => isBehind === true) || (await this.#backlog.isFull())) return false;
    const bytes = encodeMessage(message).length;
    for (const { tenant, topicFilter, shards } of filters) {
      for (let shard = 0; shard < shards; shard += 1) {
        this.#gather({ tenant, topicFilter, shard }, message, bytes);
      }
    }
    return true;
  }

  /** Sends what was gathered. Rejects with `Unavailable` when not all of it is in the queue: nothing may be promised. */
  async flush(): Promise<void> {
    if (this.#shards.size === 0) return;
    const gathered = [...this.#shards.values()];
    this.#shards = new Map();
    await this.#queue.send(gathered.flatMap((each) => each.jobs.map(entryOf)));
  }

  /** Forgets what was gathered: the frame has failed, and promises nothing. */
  drop(): void {
    this.#shards = new Map();
  }

  #gather(shard: Shard, message: Message, bytes: number): void {
    const group = groupOf(shard);
    let gathered = this.#shards.get(group);
    if (gathered === undefined) {
      gathered = new Gathered(shard);
      this.#shards.set(group, gathered);
    }
    gathered.push(message, bytes);
  }
}

/** Messages of one frame for one shard, as few jobs as they fit into. */
class Gathered {
  readonly jobs: FanOutJob[] = [];
  readonly #shard: Shard;
  #open: Message[] = [];
  #bytes = 0;

  constructor(shard: Shard) {
    this.#shard = shard;
  }

  push(message: Message, bytes: number): void {
    if (this.jobs.length === 0 || this.#bytes + bytes > JOB_BYTES_MAX) {
      this.#open = [];
      this.#bytes = 0;
      this.jobs.push({ ...this.#shard, messages: this.#open });
    }
    this.#open.push(message);
    this.#bytes += bytes;
  }
}

function entryOf(job: FanOutJob): QueueEntry {
  return { body: encodeJob(job), fifo: { groupId: groupOf(job), deduplicationId: jobIdOf(job) } };
}
