import { type Message, messageBytes } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { Backlog, BacklogCounts, BacklogRoom, BridgesContext, Portion, TenantFilter } from '@apus/node';
import type { RuleConfiguration } from './configuration/rules.ts';

/**
 * Shares of the length and bytes of a rule's queue. From the first share on publishers are refused. Messages from other
 * processes, which do not know that yet, may use the room up to the second share. Wills, which have no answer, may use
 * the whole queue.
 */
const LITTLE_SHARE = 0.9;
const NONE_SHARE = 0.95;
/** Publishers at other processes are accepted again below this share. */
const AGAIN_SHARE = 0.8;

/**
 * The share that messages waiting at another process may take at a time, even if this process has filled the first
 * share meanwhile.
 */
const PORTION_SHARE = 0.05;
const PORTION_MESSAGES_MAX = 500;
const PORTION_BYTES_MAX = 1024 * 1024;

const NOTHING: BacklogCounts = { givenBack: 0, givenUp: 0 };

/**
 * The queues of all rules, including those that do not run here: in a cluster another process runs them, or this
 * process has taken over the queue and is about to run it.
 */
export class RuleBacklog implements Backlog {
  readonly portion: Portion;
  readonly #rules: readonly RuleConfiguration[];
  readonly #context: BridgesContext;
  /** The bytes of the largest message that has found no room, or 0. */
  readonly #full = new Map<RuleConfiguration, number>();
  readonly #counts = new Map<string, BacklogCounts>();
  #left: () => void = () => {};

  constructor(rules: readonly RuleConfiguration[], context: BridgesContext) {
    this.#rules = rules;
    this.#context = context;
    const { queueLengthMax, queueBytesMax } = context;
    const shareOf = (max: number, most: number) =>
      Math.max(1, Math.floor(Math.min(most, max * PORTION_SHARE)));
    this.portion = {
      messages: shareOf(queueLengthMax, PORTION_MESSAGES_MAX),
      bytes: shareOf(queueBytesMax, PORTION_BYTES_MAX),
    };
  }

  roomFor(tenant: string, message: Message): BacklogRoom {
    let room: BacklogRoom = 'enough';
    const bytes = messageBytes(message);
    for (const rule of this.#rules) {
      if (!isFor(rule, tenant, message)) continue;
      const share = this.#shareWith(rule, 1, bytes);
      if (share <= LITTLE_SHARE) continue;
      if (this.#shareOf(1, bytes) > NONE_SHARE) return 'never';
      const isNone = share > NONE_SHARE;
      this.#full.set(rule, Math.max(this.#full.get(rule) ?? 0, isNone ? bytes : 0));
      if (isNone) return 'none';
      room = 'little';
    }
    return room;
  }

  lacking(tenant: string, message: Message): TenantFilter | undefined {
    const bytes = messageBytes(message);
    for (const rule of this.#rules)
      if (isFor(rule, tenant, message) && this.#shareWith(rule, 1, bytes) > NONE_SHARE)
        return { tenant, topicFilter: rule.filter };
    return undefined;
  }

  full(): readonly TenantFilter[] {
    for (const [rule, bytes] of this.#full) if (this.#hasRoomAgain(rule, bytes)) this.#full.delete(rule);
    return Array.from(this.#full.keys(), ({ tenant, filter }) => ({ tenant, topicFilter: filter }));
  }

  watch(left: () => void): void {
    this.#left = left;
  }

  /** Messages have left a queue. */
  left(): void {
    this.#left();
  }

  count({ tenant, topicFilter }: TenantFilter, { givenBack, givenUp }: BacklogCounts): void {
    const before = this.countsOf(tenant, topicFilter);
    this.#counts.set(nameOf(tenant, topicFilter), {
      givenBack: before.givenBack + givenBack,
      givenUp: before.givenUp + givenUp,
    });
  }

  countsOf(tenant: string, filter: string): BacklogCounts {
    return this.#counts.get(nameOf(tenant, filter)) ?? NOTHING;
  }

  #hasRoomAgain(rule: RuleConfiguration, bytes: number): boolean {
    const { messages } = this.#context.waiting({ tenant: rule.tenant, kind: 'rule', name: rule.name });
    return messages === 0 || this.#shareWith(rule, bytes > 0 ? 1 : 0, bytes) < AGAIN_SHARE;
  }

  #shareWith({ tenant, name }: RuleConfiguration, moreMessages: number, moreBytes: number): number {
    const { messages, bytes } = this.#context.waiting({ tenant, kind: 'rule', name });
    return this.#shareOf(messages + moreMessages, bytes + moreBytes);
  }

  #shareOf(messages: number, bytes: number): number {
    const { queueLengthMax, queueBytesMax } = this.#context;
    return Math.max(messages / queueLengthMax, bytes / queueBytesMax);
  }
}

function isFor(rule: RuleConfiguration, tenant: string, { topic }: Message): boolean {
  return rule.tenant === tenant && matches(rule.filter, topic);
}

function nameOf(tenant: string, filter: string): string {
  return `${tenant}\0${filter}`;
}
