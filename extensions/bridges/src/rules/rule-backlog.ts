import { type Message, messageBytes } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type {
  Backlog,
  BacklogCounts,
  BacklogRoom,
  BridgesContext,
  Portion,
  TenantFilter,
  Waiting,
} from '@apus/node';
import type { RuleConfiguration } from './configuration/rules.ts';
import { QueueShares } from './queue-shares.ts';

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
 * A publisher may have as much in a queue as it leaves to all others up to the first share: at most half of it. Other
 * processes refuse it from this part of that on, and accept it again below.
 */
const OWN_AGAIN_PART = 0.8;

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
  readonly #shares = new Map<RuleConfiguration, QueueShares>();
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

  roomFor(tenant: string, message: Message, holder?: string): BacklogRoom {
    let room: BacklogRoom = 'enough';
    const bytes = messageBytes(message);
    for (const rule of this.#rules) {
      if (!isFor(rule, tenant, message)) continue;
      const share = this.#shareWith(rule, 1, bytes);
      if (holder !== undefined && share <= LITTLE_SHARE && !this.#hasShare(rule, holder, bytes))
        return 'none';
      if (share <= LITTLE_SHARE) continue;
      if (this.#shareOf(1, bytes) > NONE_SHARE) return 'never';
      const isNone = share > NONE_SHARE;
      this.#full.set(rule, Math.max(this.#full.get(rule) ?? 0, isNone ? bytes : 0));
      if (isNone) return 'none';
      room = 'little';
    }
    return room;
  }

  lacking(tenant: string, message: Message, holder?: string): TenantFilter | undefined {
    const bytes = messageBytes(message);
    for (const rule of this.#rules) {
      if (!isFor(rule, tenant, message)) continue;
      const share = this.#shareWith(rule, 1, bytes);
      if (share > NONE_SHARE) return { tenant, topicFilter: rule.filter };
      if (holder !== undefined && share <= LITTLE_SHARE && !this.#hasShare(rule, holder, bytes))
        return { tenant, topicFilter: rule.filter, holder };
    }
    return undefined;
  }

  queued(tenant: string, message: Message, holder = ''): void {
    for (const rule of this.#rules) {
      if (!isFor(rule, tenant, message)) continue;
      const shares = this.#shares.get(rule) ?? new QueueShares();
      this.#shares.set(rule, shares);
      // Also where another process runs the rule, and has its queue.
      if (this.#waiting(rule).messages === 0) shares.clear();
      shares.add(message.id, holder, messageBytes(message));
      if (shares.size > this.#context.queueLengthMax) shares.dropFirst();
    }
  }

  /** The message waits no more. */
  delivered(rule: RuleConfiguration, { id }: Message): void {
    this.#shares.get(rule)?.leave(id);
  }

  full(): readonly TenantFilter[] {
    for (const [rule, bytes] of this.#full) if (this.#hasRoomAgain(rule, bytes)) this.#full.delete(rule);
    const full: TenantFilter[] = [];
    for (const { tenant, filter } of this.#full.keys()) full.push({ tenant, topicFilter: filter });
    for (const [rule, shares] of this.#shares) {
      const { tenant, filter } = rule;
      for (const holder of shares.holders)
        if (holder !== '' && !this.#hasShare(rule, holder, 0, OWN_AGAIN_PART))
          full.push({ tenant, topicFilter: filter, holder });
    }
    return full;
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

  /** Whether the publisher leaves others enough with a further message. One that has none there may always have one. */
  #hasShare(rule: RuleConfiguration, holder: string, moreBytes: number, part = 1): boolean {
    const own = this.#shares.get(rule)?.of(holder);
    if (own === undefined || own.messages === 0 || this.#waiting(rule).messages === 0) return true;
    const left = LITTLE_SHARE - this.#shareWith(rule, 1, moreBytes);
    return this.#shareOf(own.messages + 1, own.bytes + moreBytes) <= part * left;
  }

  #hasRoomAgain(rule: RuleConfiguration, bytes: number): boolean {
    const { messages } = this.#waiting(rule);
    return messages === 0 || this.#shareWith(rule, bytes > 0 ? 1 : 0, bytes) < AGAIN_SHARE;
  }

  #waiting({ tenant, name }: RuleConfiguration): Waiting {
    return this.#context.waiting({ tenant, kind: 'rule', name });
  }

  #shareWith(rule: RuleConfiguration, moreMessages: number, moreBytes: number): number {
    const { messages, bytes } = this.#waiting(rule);
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
