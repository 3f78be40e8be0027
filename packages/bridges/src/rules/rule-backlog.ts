import { type Message, messageBytes } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { Backlog, BacklogRoom, BridgesContext, TenantFilter } from '@apus/node';
import type { RuleConfiguration } from './configuration/rules.ts';

/**
 * Shares of the length and bytes of a rule's queue. Publishers are refused from the first one on. Messages of other processes, which
 * do not know that yet, may take what is below the second, and wills, which have no answer, all of it.
 */
const LITTLE_SHARE = 0.9;
const NONE_SHARE = 0.95;
/** Publishers at other processes are let in again below this one. */
const AGAIN_SHARE = 0.8;

/**
 * The queues of all rules, also of one that does not run: in a cluster another process has it, or this one has inherited its queue
 * and is about to run it.
 */
export class RuleBacklog implements Backlog {
  readonly #rules: readonly RuleConfiguration[];
  readonly #context: BridgesContext;
  readonly #full = new Set<RuleConfiguration>();

  constructor(rules: readonly RuleConfiguration[], context: BridgesContext) {
    this.#rules = rules;
    this.#context = context;
  }

  roomFor(tenant: string, message: Message): BacklogRoom {
    let room: BacklogRoom = 'enough';
    for (const rule of this.#rules) {
      if (rule.tenant !== tenant || !matches(rule.filter, message.topic)) continue;
      const share = this.#shareWith(rule, 1, messageBytes(message));
      if (share <= LITTLE_SHARE) continue;
      this.#full.add(rule);
      if (share > NONE_SHARE) return 'none';
      room = 'little';
    }
    return room;
  }

  full(): readonly TenantFilter[] {
    for (const rule of this.#full) if (this.#shareWith(rule, 0, 0) < AGAIN_SHARE) this.#full.delete(rule);
    return Array.from(this.#full, ({ tenant, filter }) => ({ tenant, topicFilter: filter }));
  }

  #shareWith({ tenant, name }: RuleConfiguration, moreMessages: number, moreBytes: number): number {
    const { queueLengthMax, queueBytesMax } = this.#context;
    const { messages, bytes } = this.#context.waiting({ tenant, kind: 'rule', name });
    return Math.max((messages + moreMessages) / queueLengthMax, (bytes + moreBytes) / queueBytesMax);
  }
}
