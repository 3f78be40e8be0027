import type { Log } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { MemoryBudget } from '@apus/store-memory';
import type { Membership } from '@apus/store-valkey';
import type { Bus } from './bus.ts';
import { FULL_TOLD_MS } from './limits.ts';

export interface FullQueuesContext {
  readonly memory: MemoryBudget;
  readonly bus: Bus;
  readonly membership: Membership;
  readonly clock: Scheduler;
  readonly log: Log;
}

/**
 * Tenants whose queues are full at some process: no process takes a message for them. A process tells the others before it has
 * acknowledged the message that was the last, and again every second, for those that have joined.
 */
export class FullQueues {
  readonly #context: FullQueuesContext;
  readonly #own = new Set<string>();
  readonly #elsewhere = new Map<string, ReadonlySet<string>>();
  #others: readonly string[] = [];
  #isTelling = false;
  #cancel: () => void = () => {};

  constructor(context: FullQueuesContext) {
    const { memory } = context;
    this.#context = context;
    memory.watchQueues = (tenant, isFull) => {
      if (isFull) this.#own.add(tenant);
      else this.#own.delete(tenant);
      this.#tellSoon();
    };
    memory.isQueueFullElsewhere = (tenant) => {
      for (const tenants of this.#elsewhere.values()) if (tenants.has(tenant)) return true;
      return false;
    };
  }

  async start(): Promise<void> {
    await this.#look();
    this.#arm();
  }

  /** Another process has these. */
  told(process: string, tenants: readonly string[]): void {
    if (tenants.length === 0) this.#elsewhere.delete(process);
    else this.#elsewhere.set(process, new Set(tenants));
  }

  forget(process: string): void {
    this.#elsewhere.delete(process);
  }

  stop(): void {
    this.#cancel();
  }

  #arm(): void {
    const { clock, log } = this.#context;
    this.#cancel = clock.after(FULL_TOLD_MS, () => {
      this.#look()
        .then(() => this.#own.size > 0 && this.#tell())
        .catch((error: unknown) => log.warn('processes-not-listed', { error: String(error) }));
      this.#arm();
    });
  }

  async #look(): Promise<void> {
    const { membership } = this.#context;
    this.#others = (await membership.all()).filter((process) => process !== membership.me);
  }

  /** Once for all changes of a turn. */
  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  /** A process that has joined within the second is known when it has sent something: it may wait for the answer. */
  #tell(): void {
    const { bus } = this.#context;
    const tenants = [...this.#own];
    for (const process of new Set([...this.#others, ...bus.peers]))
      bus.send(process, { type: 'full', tenants });
  }
}
