import type { Log } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import { DiskError } from '@apus/store-disk';
import { GIVEN_UP, LEASE_MS, type Membership, RENEW_MS } from './store/index.ts';

const NONE: readonly string[] = [];

export interface LeaseContext {
  readonly membership: Membership;
  readonly clock: Scheduler;
  readonly log: Log;
  /** This process has lost its place, or the engine does not answer. */
  readonly fail: (error: Error) => void;
  /** Takes over the sessions of a process whose lease is over. */
  readonly adopt: (dead: string) => Promise<void>;
}

/** The lease of this process: renews it, and takes over from processes that do not renew theirs. */
export class Lease {
  readonly #context: LeaseContext;
  #renewedAtMs = performance.now();
  #cancel: () => void = () => {};
  #isStopped = false;
  #isReaping = false;
  /** Processes that this one has given up, and whose sessions it has not taken over yet. */
  readonly #unfinished = new Set<string>();

  constructor(context: LeaseContext) {
    this.#context = context;
  }

  async start(): Promise<void> {
    await this.renew();
    this.#renewLater();
  }

  /** Its own lease is over, and stays so. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  async renew(): Promise<void> {
    await this.#reap(await this.#renewLease());
  }

  #renewLater(): void {
    if (this.#isStopped) return;
    const { clock } = this.#context;
    this.#cancel = clock.after(RENEW_MS, () => {
      // Taking over the sessions of a dead process may take longer than a lease, so renewals go on meanwhile.
      void this.#renewLease()
        .then((dead) => void this.#reap(dead))
        .finally(() => this.#renewLater());
      // If the engine does not answer, the lease is over as well.
      clock.after(LEASE_MS, () => this.#check());
    });
  }

  #check(): void {
    if (!this.#isStopped && performance.now() - this.#renewedAtMs > LEASE_MS)
      this.#context.fail(
        new DiskError('The engine of the cluster does not answer. Nothing is acknowledged any more.'),
      );
  }

  /** Returns the processes whose leases are over. */
  async #renewLease(): Promise<readonly string[]> {
    if (this.#isStopped) return NONE;
    const { membership, fail, log } = this.#context;
    const askedAtMs = performance.now();
    try {
      const dead = await membership.renew();
      if (dead === undefined) fail(new DiskError(GIVEN_UP));
      else this.#renewedAtMs = askedAtMs;
      return dead ?? NONE;
    } catch (error) {
      if (!this.#isStopped) log.error('lease-not-renewed', { error: String(error) });
      return NONE;
    }
  }

  async #reap(dead: readonly string[]): Promise<void> {
    if (this.#isReaping || this.#isStopped) return;
    this.#isReaping = true;
    for (const process of new Set([...this.#unfinished, ...dead])) await this.#adopt(process);
    this.#isReaping = false;
  }

  /**
   * A failed take-over is tried again with the next renewal. If this process ends before, the process that gives it up
   * takes over both.
   */
  async #adopt(dead: string): Promise<void> {
    const { membership, adopt, log } = this.#context;
    if (dead === membership.me) return;
    this.#unfinished.add(dead);
    try {
      await adopt(dead);
      this.#unfinished.delete(dead);
    } catch (error) {
      if (!this.#isStopped) log.error('process-not-taken-over', { process: dead, error: String(error) });
    }
  }
}
