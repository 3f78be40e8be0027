import type { FanOut, Message, WideFilter } from '@apus/broker';
import { encodeForJobs, encodeJob, groupOf, jobIdOf, type Shard } from './job.ts';
import type { JobQueue, QueueEntry } from './job-queue.ts';

/** Characters of messages in one job: several jobs have to fit into a batch of 1 MiB. */
const JOB_CHARACTERS_MAX = 256 * 1024;

/** Whether so much waits in the queue that nothing more may be sent to it. */
export interface Backlog {
  isFull(): Promise<boolean>;
}

/** The queue of the workers. */
export interface FanOutQueue {
  readonly queue: JobQueue;
  readonly backlog: Backlog;
}

/**
 * Gathers the messages of an event for wide filters, and sends each shard a job when the event has been handled,
 * before the client gets an acknowledgement.
 */
export class GatheredJobs implements FanOut {
  readonly #queue: JobQueue;
  readonly #backlog: Backlog;
  #shards = new Map<string, Gathered>();

  constructor({ queue, backlog }: FanOutQueue) {
    this.#queue = queue;
    this.#backlog = backlog;
  }

  async accept(message: Message, filters: readonly WideFilter[]): Promise<boolean> {
    if (!(await this.hasRoom(filters))) return false;
    this.take(message, filters);
    return true;
  }

  async hasRoom(filters: readonly WideFilter[]): Promise<boolean> {
    return !filters.some(({ isBehind }) => isBehind === true) && !(await this.#backlog.isFull());
  }

  take(message: Message, filters: readonly WideFilter[]): void {
    const gathered = { message, encoded: encodeForJobs(message) };
    for (const { tenant, topicFilter, shards } of filters) {
      for (let shard = 0; shard < shards; shard += 1) this.#gather({ tenant, topicFilter, shard }, gathered);
    }
  }

  /**
   * Sends the gathered jobs. Rejects with `Unavailable` if one is not in the queue: then nothing may be acknowledged.
   */
  async flush(): Promise<void> {
    if (this.#shards.size === 0) return;
    const gathered = [...this.#shards.values()];
    this.#shards = new Map();
    await this.#queue.send(gathered.flatMap((each) => each.entries()));
  }

  /** Drops the gathered jobs: the event has failed, and acknowledges nothing. */
  drop(): void {
    this.#shards = new Map();
  }

  #gather(shard: Shard, message: GatheredMessage): void {
    const key = `${shard.shard} ${shard.tenant}\0${shard.topicFilter}`;
    let gathered = this.#shards.get(key);
    if (gathered === undefined) {
      gathered = new Gathered(shard);
      this.#shards.set(key, gathered);
    }
    gathered.push(message);
  }
}

interface GatheredMessage {
  readonly message: Message;
  readonly encoded: string;
}

/** The messages of one frame for one shard, in as few jobs as they fit into. */
class Gathered {
  readonly #shard: Shard;
  readonly #jobs: GatheredMessage[][] = [];
  #bytes = 0;

  constructor(shard: Shard) {
    this.#shard = shard;
  }

  /**
   * A QoS 2 message has a job of its own: when it is sent again, beside other messages, the queue recognizes the job.
   */
  push(gathered: GatheredMessage): void {
    const { message, encoded } = gathered;
    const open = this.#jobs.at(-1);
    const isAlone = message.qos === 2 || open?.[0]?.message.qos === 2;
    if (open === undefined || isAlone || this.#bytes + encoded.length > JOB_CHARACTERS_MAX) {
      this.#jobs.push([gathered]);
      this.#bytes = encoded.length;
      return;
    }
    open.push(gathered);
    this.#bytes += encoded.length;
  }

  entries(): QueueEntry[] {
    const groupId = groupOf(this.#shard);
    return this.#jobs.map((job) => {
      const messages = job.map(({ message }) => message);
      return {
        body: encodeJob(
          this.#shard,
          job.map(({ encoded }) => encoded),
        ),
        fifo: { groupId, deduplicationId: jobIdOf({ ...this.#shard, messages }) },
      };
    });
  }
}
