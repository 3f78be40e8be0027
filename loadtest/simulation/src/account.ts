import { LambdaPool } from './lambda-pool.ts';
import type { Quotas } from './quotas.ts';
import { TokenBucket } from './token-bucket.ts';

/** DynamoDB lets a table and a partition use unused units of earlier seconds; here, those of the last second. */
const BURST_SECONDS = 1;

/** Partitions that a simulation tracks by name: those that many share. */
export type HotPartition = 'shapes' | 'topic';

/** The throttles that all traffic of an account shares. */
export class Account {
  readonly requests: TokenBucket;
  readonly stageFrames: TokenBucket;
  readonly newConnections: TokenBucket;
  readonly fifoMessages: TokenBucket;
  readonly tableReads: TokenBucket;
  readonly tableWrites: TokenBucket;
  readonly functions: LambdaPool;
  readonly workers: LambdaPool;
  readonly #partitions: Readonly<Record<HotPartition, TokenBucket>>;

  /** @param warm idle environments at the start */
  constructor(quotas: Quotas, warm: number) {
    const perSecond = (rate: number) => new TokenBucket(rate, Math.max(1, rate * BURST_SECONDS));
    this.requests = new TokenBucket(quotas.requestsPerSecond, Math.max(1, quotas.requestsBurst));
    // The stage's burst is twice its rate (infra/lib/api.ts).
    this.stageFrames = new TokenBucket(quotas.stageFramesPerSecond, 2 * quotas.stageFramesPerSecond);
    this.newConnections = perSecond(quotas.newConnectionsPerSecond);
    this.fifoMessages = perSecond(quotas.fifoMessagesPerSecond);
    this.tableReads = perSecond(quotas.tableReadsPerSecond);
    this.tableWrites = perSecond(quotas.tableWritesPerSecond);
    const concurrency = quotas.lambdaConcurrency;
    const scaling = { scalingPerTenSeconds: quotas.lambdaScalingPerTenSeconds };
    this.functions = new LambdaPool({ concurrency, ...scaling }, warm);
    // Workers stay below the concurrency of their event source, and share the account's concurrency with frames.
    this.workers = new LambdaPool({ concurrency, ...scaling });
    const partition = () => perSecond(quotas.partitionReadsPerSecond);
    this.#partitions = { shapes: partition(), topic: partition() };
  }

  /** Read units of the table, and of one partition that many clients read. */
  reads(nowMs: number, units: number, partition?: HotPartition): boolean {
    const isOpen = partition === undefined || this.#partitions[partition].take(nowMs);
    return this.tableReads.take(nowMs, units) && isOpen;
  }

  writes(nowMs: number, units: number): boolean {
    return units === 0 || this.tableWrites.take(nowMs, units);
  }

  partition(name: HotPartition): TokenBucket {
    return this.#partitions[name];
  }
}
