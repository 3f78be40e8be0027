import { Account } from './account.ts';
import { Backlog } from './backlog.ts';
import { ClientLimits } from './client-limits.ts';
import { EventLoop } from './event-loop.ts';
import type { Quotas } from './quotas.ts';
import { Random } from './random.ts';
import type { ServiceTimes } from './service-times.ts';
import { Tally } from './tally.ts';
import type { SimulatedWorkload } from './workload.ts';

/** Tries of a call on DynamoDB, and the first pause between them (store-dynamodb/src/limits.ts). */
const DYNAMO_ATTEMPTS_MAX = 5;
const DYNAMO_FIRST_PAUSE_MS = 25;

/** Waits between the tries of a post that was refused (aws/src/posts/signed-poster.ts). */
const POST_DELAYS_MS = [25, 75, 200] as const;

/** The calls of one frame on the store. */
export interface StoreUse {
  /** Calls, one after another. */
  readonly calls: number;
  readonly reads: number;
  readonly writes: number;
  /** Whether it reads the head item of the one topic that all share. */
  readonly isHotTopic?: boolean;
}

/** The state that all parts of the model share: time, random numbers, the account, and the counts. */
export class Model {
  readonly loop = new EventLoop();
  readonly random: Random;
  readonly account: Account;
  readonly limits: ClientLimits;
  readonly tally = new Tally();
  readonly backlog: Backlog;
  readonly workload: SimulatedWorkload;
  readonly quotas: Quotas;
  readonly times: ServiceTimes;
  readonly #fromMs: number;
  /** How often all environments together read the registry of shapes: each reads it every two seconds. */
  #leaseDueAtMs = 0;

  constructor(workload: SimulatedWorkload, quotas: Quotas, times: ServiceTimes, warm: number) {
    this.workload = workload;
    this.backlog = new Backlog(workload.recipients);
    this.quotas = quotas;
    this.times = times;
    this.random = new Random(workload.seed);
    this.account = new Account(quotas, warm);
    this.limits = new ClientLimits(quotas);
    this.#fromMs = workload.warmUpSeconds * 1_000;
  }

  /** Whether the present time is measured. */
  get isMeasured(): boolean {
    return this.loop.nowMs >= this.#fromMs;
  }

  count(change: (tally: Tally) => void): void {
    if (this.isMeasured) change(this.tally);
  }

  /** Milliseconds of a function of its memory for this many of a whole processor. */
  cpu(milliseconds: number): number {
    return milliseconds / this.times.processorShare;
  }

  /** Calls the store, tries again if it is throttled, and reports whether it answered. */
  useStore(use: StoreUse, then: (isDone: boolean) => void): void {
    this.#callStore(use, 1, then);
  }

  /** Posts to one connection, and reports whether the gateway took it. */
  post(bytes: number, then: (isSent: boolean) => void, attempt = 0): void {
    const { loop, random, times, account } = this;
    if (account.requests.take(loop.nowMs)) {
      loop.after(random.latency(times.post), () => {
        this.count((tally) => {
          tally.posts += 1;
          tally.bytesOut += bytes;
        });
        then(true);
      });
      return;
    }
    this.count((tally) => {
      tally.postsRefused += 1;
    });
    const delayMs = POST_DELAYS_MS[attempt];
    if (delayMs === undefined) then(false);
    else loop.after(delayMs, () => this.post(bytes, then, attempt + 1));
  }

  #callStore(use: StoreUse, attempt: number, then: (isDone: boolean) => void): void {
    const { loop, random, times, account } = this;
    const latencyMs = this.#latency(use.calls);
    const reads = use.reads + this.#leaseReads();
    const isOpen =
      account.reads(loop.nowMs, reads, use.isHotTopic ? 'topic' : undefined) &&
      account.writes(loop.nowMs, use.writes);
    if (isOpen) {
      this.count((tally) => {
        tally.readUnits += reads;
        tally.writeUnits += use.writes;
      });
      loop.after(latencyMs, () => then(true));
      return;
    }
    this.count((tally) => {
      tally.dynamoThrottled += 1;
    });
    if (attempt >= DYNAMO_ATTEMPTS_MAX) {
      then(false);
      return;
    }
    const pauseMs = random.next() * DYNAMO_FIRST_PAUSE_MS * 2 ** (attempt - 1);
    loop.after(random.latency(times.dynamoCall) + pauseMs, () => this.#callStore(use, attempt + 1, then));
  }

  #latency(calls: number): number {
    let ms = 0;
    for (let call = 0; call < calls; call += 1) ms += this.random.latency(this.times.dynamoCall);
    return ms;
  }

  /** The leases of all environments end evenly: two seconds, divided by how many there are. */
  #leaseReads(): number {
    const { loop, account } = this;
    if (loop.nowMs < this.#leaseDueAtMs) return 0;
    const environments = Math.max(1, account.functions.environments);
    this.#leaseDueAtMs = loop.nowMs + LEASE_MS / environments;
    account.partition('shapes').take(loop.nowMs);
    return 1;
  }
}

/** A process uses the shapes that it has read for this long (store-dynamodb/src/limits.ts). */
export const LEASE_MS = 2_000;
