import type { Message } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { Backlog, Scheduler, TenantFilter } from '@apus/node';
import type { Bus } from './bus.ts';
import type { PublishFrame } from './frames.ts';
import { FULL_RULES_LOOKED_MS } from './limits.ts';

/** The process is to be told, whatever it was told before. */
const UNKNOWN = '';

/**
 * Tells other processes that queues of rules are full here, so that these refuse publishers themselves:
 *
 *     this process                       another process
 *     a message comes: little room left
 *     says so                            publishers are refused from now on (0x97)
 *     a message comes: no room left
 *     gives it back                      it was on its way: its publisher waits
 *     the queue has drained: says so     sends it again, and takes others
 */
export class FullRules {
  readonly #backlog: Backlog;
  readonly #bus: Pick<Bus, 'send' | 'request'>;
  readonly #clock: Scheduler;
  /** Processes that know of a full queue: the last that each was told. */
  readonly #told = new Map<string, string>();
  /** Of messages that wait for room. */
  readonly #waiting: (() => void)[] = [];
  #cancel: (() => void) | undefined;

  constructor(backlog: Backlog, bus: Pick<Bus, 'send' | 'request'>, clock: Scheduler) {
    this.#backlog = backlog;
    this.#bus = bus;
    this.#clock = clock;
  }

  /** Gives a message back that has no room here; settles when its process knows. Undefined: it is to be delivered. */
  giveBack(from: string, { tenant, message, isPlain, mayWait }: PublishFrame): Promise<void> | undefined {
    if (!isPlain || !mayWait) return undefined;
    const room = this.#backlog.roomFor(tenant, message);
    if (room === 'enough') return undefined;
    const filters = this.#backlog.full();
    this.#tell(from, filters);
    // The message is too large for the room that there is: its process is told soon, so that it tries again.
    if (!isCovered(tenant, message, filters)) this.#told.set(from, UNKNOWN);
    this.#lookLater();
    return room === 'none' ? this.#bus.request(from, { type: 'later', messageId: message.id }) : undefined;
  }

  /**
   * For a message that cannot be given back, as its process is dead. Settles when it is worth to ask again; undefined: it is
   * to be delivered now.
   */
  whenRoom({ tenant, message, isPlain, mayWait }: PublishFrame): Promise<void> | undefined {
    if (!isPlain || !mayWait || this.#backlog.roomFor(tenant, message) !== 'none') return undefined;
    this.#lookLater();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  forget(process: string): void {
    this.#told.delete(process);
  }

  stop(): void {
    this.#cancel?.();
  }

  #tell(process: string, filters: readonly TenantFilter[]): void {
    const text = JSON.stringify(filters);
    if (this.#told.get(process) === text) return;
    if (filters.length === 0) this.#told.delete(process);
    else this.#told.set(process, text);
    this.#bus.send(process, { type: 'full', filters });
  }

  #lookLater(): void {
    this.#cancel ??= this.#clock.after(FULL_RULES_LOOKED_MS, () => {
      this.#cancel = undefined;
      for (const askAgain of this.#waiting.splice(0)) askAgain();
      const filters = this.#backlog.full();
      for (const process of [...this.#told.keys()]) this.#tell(process, filters);
      if (filters.length > 0) this.#lookLater();
    });
  }
}

function isCovered(tenant: string, { topic }: Message, filters: readonly TenantFilter[]): boolean {
  return filters.some((full) => full.tenant === tenant && matches(full.topicFilter, topic));
}
