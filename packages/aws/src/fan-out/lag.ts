import { type Clock, type Log, reasonOf, steadyNow } from '@apus/broker';
import type { SqsRecord } from '../events/sqs.ts';
import type { Shard } from './job.ts';

/** The clock of SQS and this one may disagree by so much. */
const CLOCK_SKEW_MS = 5_000;

/** A filter is marked again when half of the time of its last mark is over. */
const REMARK_MS = 2_500;

/** Filters that are remembered as marked. */
const MARKED_MAX = 1_000;

/** The head of a wide filter. A mark on it says that its workers are behind. */
export interface HeadMarks {
  markBehind(tenant: string, topicFilter: string): Promise<void>;
}

/**
 * How long a record has waited, in ms. At its first receipt both times are by the clock of SQS. Later ones are
 * measured by this clock, and count only beyond what a difference of clocks explains.
 */
export function lagMsOf({ attributes }: SqsRecord, nowMs: number): number {
  const sentMs = Number(attributes.SentTimestamp);
  const receivedMs = Number(attributes.ApproximateFirstReceiveTimestamp);
  const untilReceivedMs = Number.isFinite(receivedMs - sentMs) ? receivedMs - sentMs : 0;
  if (Number(attributes.ApproximateReceiveCount ?? 1) <= 1 || !Number.isFinite(sentMs)) {
    return Math.max(0, untilReceivedMs);
  }
  return Math.max(0, untilReceivedMs, nowMs - sentMs - CLOCK_SKEW_MS);
}

/** Marks filters whose jobs wait too long: publishers are then refused (0x97), until some time after the last mark. */
export class BehindMarks {
  readonly #heads: HeadMarks;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #markedAtMs = new Map<string, number>();

  constructor(heads: HeadMarks, clock: Clock, log: Log) {
    this.#heads = heads;
    this.#clock = clock;
    this.#log = log;
  }

  /** Never rejects: a mark that fails is made with the next batch. */
  async mark({ tenant, topicFilter, shard }: Shard, lagMs: number): Promise<void> {
    const key = `${tenant}\0${topicFilter}`;
    const nowMs = steadyNow(this.#clock);
    if (nowMs - (this.#markedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < REMARK_MS) return;
    if (this.#markedAtMs.size >= MARKED_MAX) this.#markedAtMs.clear();
    this.#markedAtMs.set(key, nowMs);
    this.#log.warn('fan-out-behind', { tenant, topicFilter, shard, lagMs });
    try {
      await this.#heads.markBehind(tenant, topicFilter);
    } catch (error) {
      this.#log.warn('fan-out-behind-not-marked', { tenant, topicFilter, error: reasonOf(error) });
    }
  }
}
