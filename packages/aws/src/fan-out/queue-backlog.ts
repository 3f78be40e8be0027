import { type Clock, type Log, reasonOf, steadyNow } from '@apus/broker';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Backlog } from './gathered-jobs.ts';
import { queueCounts } from './queue-counts.ts';

/**
 * SQS looks only at the first 120,000 messages of a FIFO queue: if so many of one group waited, all other groups would
 * wait too. The rest is room for jobs that are sent between two looks.
 */
const MESSAGES_MAX = 100_000;

/** The number is approximate, and many environments look: seldom is enough. */
const LOOK_AGAIN_MS = 10_000;

export interface QueueBacklogOptions {
  readonly client: Pick<SQSClient, 'send'>;
  readonly queueUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  /** In the log. @default 'fan-out' */
  readonly name?: string;
  /** @default 100,000 */
  readonly messagesMax?: number;
}

/** How much waits in a queue, by one look in ten seconds. */
export class QueueBacklog implements Backlog {
  readonly #options: QueueBacklogOptions;
  #isFull = false;
  #lookAtMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: QueueBacklogOptions) {
    this.#options = options;
  }

  /** Never rejects: if the queue does not answer, its last answer is used. */
  async isFull(): Promise<boolean> {
    if (this.#looking === undefined && steadyNow(this.#options.clock) >= this.#lookAtMs) {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
      });
    }
    await this.#looking;
    return this.#isFull;
  }

  async #look(): Promise<void> {
    const { client, queueUrl, clock, log, messagesMax = MESSAGES_MAX, name = 'fan-out' } = this.#options;
    this.#lookAtMs = steadyNow(clock) + LOOK_AGAIN_MS;
    try {
      const { waiting, inflight: inFlight } = await queueCounts(client, queueUrl);
      this.#isFull = waiting + inFlight > messagesMax;
      if (this.#isFull) log.warn(`${name}-queue-full`, { waiting, inFlight, messagesMax });
    } catch (error) {
      log.warn(`${name}-queue-not-asked`, { error: reasonOf(error) });
    }
  }
}
