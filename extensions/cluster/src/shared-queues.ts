import type { Log } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { MemoryBudget, QueuesScope, QueuesState, QueuesSum } from '@apus/store-memory';
import type { Bus } from './bus.ts';
import type { QueuesFrame, ToldQueues } from './frames.ts';
import { MEMBERS_LOOKED_MS, QUEUES_TOLD_MS } from './limits.ts';
import type { Membership } from './store/index.ts';

export interface SharedQueuesContext {
  readonly memory: MemoryBudget;
  readonly bus: Pick<Bus, 'send' | 'peers'>;
  readonly membership: Pick<Membership, 'me' | 'all'>;
  readonly clock: Scheduler;
  readonly log: Log;
}

type Key = `${QueuesScope} ${string}`;

const NOTHING: QueuesState = { bytes: 0, isFull: false };

/**
 * The memory of queues at all processes. Each process tells the others how much tenants and identities have in its
 * queues: at once when it passes a step of their limit, and then not for a pause, after which it tells the present
 * state. It tells without a pause that they are full, before it acknowledges the message that has filled them. A
 * process that joins is told everything, and then each change.
 */
export class SharedQueues {
  readonly #context: SharedQueuesContext;
  readonly #own = new Map<Key, QueuesState>();
  readonly #changed = new Set<Key>();
  /** Queues that the others know as full. */
  readonly #toldFull = new Set<Key>();
  readonly #elsewhere = new Map<string, Map<Key, QueuesState>>();
  /** The sums of all other processes. */
  readonly #sums = { tenant: new Map<string, QueuesSum>(), identity: new Map<string, QueuesSum>() };
  /** Processes that have been told everything. */
  readonly #informed = new Set<string>();
  #others: readonly string[] = [];
  #isPausing = false;
  #isTelling = false;
  #cancelLook: () => void = () => {};
  #cancelPause: () => void = () => {};

  constructor(context: SharedQueuesContext) {
    const { memory } = context;
    this.#context = context;
    memory.watchQueues = (scope, name, state) => {
      const key: Key = `${scope} ${name}`;
      if (state.bytes === 0) this.#own.delete(key);
      else this.#own.set(key, state);
      this.#changed.add(key);
      if (state.isFull && !this.#toldFull.has(key)) this.#tellInThisTurn();
      else this.#tellSoon();
    };
    memory.queuesElsewhere = this.#sums;
  }

  async start(): Promise<void> {
    await this.#look();
    this.#arm();
  }

  /** Another process reports these. */
  told(process: string, queues: readonly ToldQueues[]): void {
    let known = this.#elsewhere.get(process);
    if (known === undefined) {
      known = new Map();
      this.#elsewhere.set(process, known);
    }
    for (const [scope, name, bytes, isFull] of queues) {
      const key: Key = `${scope} ${name}`;
      this.#add(scope, name, known.get(key) ?? NOTHING, { bytes, isFull });
      if (bytes === 0) known.delete(key);
      else known.set(key, { bytes, isFull });
    }
  }

  forget(process: string): void {
    const known = this.#elsewhere.get(process) ?? [];
    this.told(
      process,
      [...known].map(([key]) => toldOf(key, NOTHING)),
    );
    this.#elsewhere.delete(process);
    this.#informed.delete(process);
    this.#others = this.#others.filter((other) => other !== process);
  }

  stop(): void {
    this.#cancelLook();
    this.#cancelPause();
  }

  #add(scope: QueuesScope, name: string, before: QueuesState, now: QueuesState): void {
    const sums = this.#sums[scope];
    const { bytes, fullAt } = sums.get(name) ?? { bytes: 0, fullAt: 0 };
    const sum = {
      bytes: bytes - before.bytes + now.bytes,
      fullAt: fullAt - Number(before.isFull) + Number(now.isFull),
    };
    if (sum.bytes > 0) sums.set(name, sum);
    else sums.delete(name);
  }

  #arm(): void {
    const { clock, log } = this.#context;
    this.#cancelLook = clock.after(MEMBERS_LOOKED_MS, () => {
      this.#look().catch((error: unknown) => log.warn('processes-not-listed', { error: String(error) }));
      this.#arm();
    });
  }

  async #look(): Promise<void> {
    const { membership } = this.#context;
    this.#others = (await membership.all()).filter((process) => process !== membership.me);
    if (this.#others.some((process) => !this.#informed.has(process))) this.#tellSoon();
  }

  /** Tells once for all changes of a turn. */
  #tellSoon(): void {
    if (this.#isPausing) return;
    this.#isPausing = true;
    this.#tellInThisTurn();
    this.#cancelPause = this.#context.clock.after(QUEUES_TOLD_MS, () => {
      this.#isPausing = false;
      if (this.#changed.size > 0) this.#tellSoon();
    });
  }

  #tellInThisTurn(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setImmediate(() => {
      this.#isTelling = false;
      this.#tell();
    });
  }

  /**
   * A process that has joined within the last second is known as soon as it has sent something, as it may wait for the
   * answer.
   */
  #tell(): void {
    const { bus } = this.#context;
    const changed = this.#frameOf(this.#changed);
    const all = this.#frameOf(this.#own.keys());
    for (const key of this.#changed) {
      if (this.#own.get(key)?.isFull === true) this.#toldFull.add(key);
      else this.#toldFull.delete(key);
    }
    this.#changed.clear();
    for (const process of new Set([...this.#others, ...bus.peers])) {
      const frame = this.#informed.has(process) ? changed : all;
      this.#informed.add(process);
      if (frame.queues.length > 0) bus.send(process, frame);
    }
  }

  #frameOf(keys: Iterable<Key>): QueuesFrame {
    return {
      type: 'queues',
      queues: Array.from(keys, (key) => toldOf(key, this.#own.get(key) ?? NOTHING)),
    };
  }
}

function toldOf(key: Key, { bytes, isFull }: QueuesState): ToldQueues {
  const end = key.indexOf(' ');
  return [key.slice(0, end) as QueuesScope, key.slice(end + 1), bytes, isFull];
}
