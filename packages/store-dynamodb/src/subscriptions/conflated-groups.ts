import { CONFLATED_CLAIM_MS, CONFLATED_TICK_LATE_MS } from '../limits.ts';
import { hashOf, headKey, type Key } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { isBehind, type Shards, shardsOf } from './shards.ts';

/*
 * On the head of a filter: `~1000` until when the tick of its group of 1,000 ms is armed (0: it is not), `cj` how often a
 * subscriber has joined one of its groups. The subscribers of a group stand in the shards of a filter of its own name,
 * whose head has `d` marks of the positions that it was told, as JSON, and `y` until when a tick is telling it.
 */
const GROUP = '~';

/** Letters of a mark: two positions of one topic have the same once in a hundred thousand million. */
const MARK_LENGTH = 7;

/** Subscribers that are read to learn whether a shard has any: some may have ended. */
const LOOKED_AT = 10;

/** A tick that has been begun: to the end of its claim no other is. */
export interface BegunTick {
  readonly storedFilter: string;
  readonly shards: number;
  readonly isBehind: boolean;
  hasTold(topic: string, position: string): boolean;
  done(told: ReadonlyMap<string, string>): Promise<void>;
}

/** No client's filter has the name: its `#` is not its last level. */
export function storedFilterOf(topicFilter: string, intervalMs: number): string {
  return `#${intervalMs}/${topicFilter}`;
}

/** Intervals of the filter's groups, in milliseconds. */
export function groupsOf(head: Item | undefined): number[] {
  return Object.keys(head ?? {}).flatMap((name) => (name.startsWith(GROUP) ? Number(name.slice(1)) : []));
}

/** Those for which no tick is armed. */
export function unarmedOf(head: Item | undefined, nowMs: number): number[] {
  return groupsOf(head).filter((intervalMs) => (numberOf(head, `${GROUP}${intervalMs}`) ?? 0) <= nowMs);
}

/** Groups of subscribers that are sent the newest message of each topic once in an interval. */
export class DynamoConflatedGroups {
  readonly #table: Table;
  readonly #shards: Shards;

  constructor(table: Table, shards: Shards) {
    this.#table = table;
    this.#shards = shards;
  }

  /** A subscriber stands in a shard of the group: from the answer on, messages arm its ticks. */
  async join(tenant: string, topicFilter: string, intervalMs: number): Promise<void> {
    await this.#table.update(
      headKey(tenant, topicFilter),
      'SET #group = if_not_exists(#group, :none), v = :v ADD cj :one',
      {
        names: { '#group': GROUP + intervalMs },
        values: { ':none': number(0), ':v': number(VERSION), ':one': number(1) },
      },
    );
  }

  /** A tick that is late by a minute has lost its timer. */
  async armed(tenant: string, topicFilter: string, intervalMs: number, dueAtMs: number): Promise<void> {
    await this.#table.update(headKey(tenant, topicFilter), 'SET #group = :until', {
      condition: 'attribute_exists(#group)',
      names: { '#group': GROUP + intervalMs },
      values: { ':until': number(dueAtMs + CONFLATED_TICK_LATE_MS) },
    });
  }

  /**
   * One tick tells a group at a time, so that workers get its messages in their order. A group without subscribers leaves
   * the head, unless one has joined since the head was read: that subscriber came into its shard before it joined.
   */
  async begin(tenant: string, topicFilter: string, intervalMs: number): Promise<BegunTick | 'busy' | 'over'> {
    const names = { '#group': GROUP + intervalMs };
    const head = headKey(tenant, topicFilter);
    const disarmed = await this.#table.update(head, 'SET #group = :none', {
      condition: 'attribute_exists(#group)',
      names,
      values: { ':none': number(0) },
      returnsOld: true,
    });
    if (!disarmed.ok) return 'over';
    const storedFilter = storedFilterOf(topicFilter, intervalMs);
    const key = headKey(tenant, storedFilter);
    const nowMs = this.#table.settings.clock.now();
    const until = number(nowMs + CONFLATED_CLAIM_MS);
    const claimed = await this.#table.update(key, 'SET y = :until', {
      condition: 'attribute_exists(k) AND (attribute_not_exists(y) OR y <= :now)',
      values: { ':until': until, ':now': number(nowMs) },
      returnsOld: true,
    });
    if (!claimed.ok) return claimed.old === undefined ? 'over' : 'busy';
    const shards = shardsOf(claimed.old);
    if (!(await this.#isAnyIn(tenant, storedFilter, shards))) {
      const hasNoneJoined = 'cj = :joined';
      const joined = number(numberOf(disarmed.old, 'cj') ?? 0);
      await this.#table.update(head, 'REMOVE #group', {
        condition: hasNoneJoined,
        names,
        values: { ':joined': joined },
      });
      await this.#release(key, until, undefined);
      return 'over';
    }
    const marks = new Set(JSON.parse(textOf(claimed.old, 'd') ?? '[]') as string[]);
    return {
      storedFilter,
      shards,
      isBehind: isBehind(claimed.old, nowMs),
      hasTold: (topic, position) => marks.has(markOf(topic, position)),
      done: async (told) => await this.#release(key, until, told),
    };
  }

  async #isAnyIn(tenant: string, topicFilter: string, shards: number): Promise<boolean> {
    for (let shard = 0; shard < shards; shard += 1) {
      const name = { tenant, topicFilter, shard };
      const { entries, next } = await this.#shards.page(name, { after: undefined, limit: LOOKED_AT });
      if (entries.length > 0 || next !== undefined) return true;
    }
    return false;
  }

  async #release(
    key: Key,
    until: ReturnType<typeof number>,
    told: ReadonlyMap<string, string> | undefined,
  ): Promise<void> {
    const marks = told && JSON.stringify([...told].map(([topic, position]) => markOf(topic, position)));
    await this.#table.update(key, marks === undefined ? 'REMOVE y' : 'SET d = :marks REMOVE y', {
      condition: 'y = :until',
      values: { ':until': until, ...(marks !== undefined && { ':marks': text(marks) }) },
    });
  }
}

function markOf(topic: string, position: string): string {
  return hashOf(`${topic}\0${position}`).slice(0, MARK_LENGTH);
}
