import type { Message, Outlet } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { Backlog } from '../fan-out/gathered-jobs.ts';
import type { JobQueue, QueueEntry } from '../fan-out/job-queue.ts';
import { type RuleRef, ruleJobEntry } from './rule-job.ts';

/** The topics of a rule. Its condition is known to the function of rules alone. */
export interface RuleFilter extends RuleRef {
  readonly filter: string;
}

/** The rules of a deployment, as publishers need them. */
export interface RuleQueue {
  readonly filters: readonly RuleFilter[];
  readonly queue: JobQueue;
  readonly backlog: Backlog;
}

/**
 * The outlet to the targets of rules. It gathers the messages that an event publishes, and puts them into the queue of
 * the rules' function when the event has been handled: before they are posted, and before their publisher is answered.
 */
export class RuleOutlet implements Outlet {
  readonly #rules: RuleQueue;
  #entries: QueueEntry[] = [];

  constructor(rules: RuleQueue) {
    this.#rules = rules;
  }

  take(tenant: string, message: Message, isAnswered: boolean): Promise<boolean> | undefined {
    const rules = this.#rules.filters.filter(
      (rule) => rule.tenant === tenant && matches(rule.filter, message.topic),
    );
    return rules.length === 0 ? undefined : this.#gather(rules, message, isAnswered);
  }

  /**
   * Sends the gathered messages. Rejects with `Unavailable` if one is not in the queue: then nothing may be
   * acknowledged.
   */
  async flush(): Promise<void> {
    if (this.#entries.length === 0) return;
    const entries = this.#entries;
    this.#entries = [];
    await this.#rules.queue.send(entries);
  }

  /** The event has failed, and acknowledges nothing. */
  drop(): void {
    this.#entries = [];
  }

  async #gather(rules: readonly RuleFilter[], message: Message, isAnswered: boolean): Promise<boolean> {
    if (await this.#rules.backlog.isFull()) return !isAnswered;
    this.#entries.push(...rules.map((rule) => ruleJobEntry({ rule, message })));
    return true;
  }
}
