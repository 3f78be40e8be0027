import type { ConflatedGroup } from '@apus/broker';
import { CONFLATED_CLAIM_MS, CONFLATED_LOOKS_MAX, CONFLATED_TICK_LATE_MS } from '../limits.ts';
import { hashOf, headKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { isBehind, type Shards, shardsOf } from './shards.ts';

/*
 * On the head of a filter: `~1000`, the tick of its group of 1,000 ms, and `cj`, how often a subscriber has joined one
 * of its groups. Of a tick `i` is the id, `u` until when no other one is armed, `y` until when a process works on it
 * (absent: it waits, or is done). The subscribers of a group stand in the shards of a filter of its own name; that
 * head has `d`, marks of the positions that the group was sent, as JSON.
 */
const GROUP = '~';

/** Characters of a mark: two positions of one topic share one once in a hundred thousand million. */
const MARK_LENGTH = 7;

/** Subscribers that are read to learn whether a shard has any: some may have ended. */
const LOOKED_AT = 10;

/** A tick that was sent. */
export interface ArmedTick {
  readonly tickId: string;
  readonly dueAtMs: number;
}

/** A tick that a process works on: until the end of its claim no other process does. */
export interface BegunTick {
  readonly storedFilter: string;
  readonly shards: number;
  readonly isBehind: boolean;
  hasTold(topic: string, position: string): boolean;
  done(told: ReadonlyMap<string, string>): Promise<void>;
}

/** No client's filter can have the name, since its `#` is not the last level. */
export function storedFilterOf(topicFilter: string, intervalMs: number): string {
  return `#${intervalMs}/${topicFilter}`;
}

/** Intervals of the filter's groups, in milliseconds. */
export function groupsOf(head: Item | undefined): number[] {
  return Object.keys(head ?? {}).flatMap((name) => (name.startsWith(GROUP) ? Number(name.slice(1)) : []));
}

/** The intervals of groups without an armed tick. */
export function unarmedOf(head: Item | undefined, nowMs: number): number[] {
  return groupsOf(head).filter((intervalMs) => (numberOf(tickOf(head, intervalMs), 'u') ?? 0) <= nowMs);
}

function tickOf(head: Item | undefined, intervalMs: number): Item | undefined {
  return head?.[GROUP + intervalMs]?.M;
}

/** A tick as the head has it. */
function tickValue(tickId: string, untilMs: number, claimMs?: number) {
  return {
    M: { i: text(tickId), u: number(untilMs), ...(claimMs !== undefined && { y: number(claimMs) }) },
  };
}

/** No tick was ever armed. */
const NO_TICK = tickValue('', 0);

/** Groups of subscribers that are sent the newest message of each topic once in an interval. */
export class DynamoConflatedGroups {
  readonly #table: Table;
  readonly #shards: Shards;

  constructor(table: Table, shards: Shards) {
    this.#table = table;
    this.#shards = shards;
  }

  /** A subscriber stands in a shard of the group. From the answer on, messages arm the group's ticks. */
  async join({ tenant, topicFilter, intervalMs }: ConflatedGroup): Promise<void> {
    await this.#table.update(
      headKey(tenant, topicFilter),
      'SET #group = if_not_exists(#group, :none), v = :v ADD cj :one',
      {
        names: { '#group': GROUP + intervalMs },
        values: { ':none': NO_TICK, ':v': number(VERSION), ':one': number(1) },
      },
    );
  }

  /**
   * The tick was sent: until it comes, or for a minute if its timer is lost, publishers arm no other. Changes nothing
   * if another tick is there, or this one came before this call.
   */
  async armed(
    { tenant, topicFilter, intervalMs }: ConflatedGroup,
    { tickId, dueAtMs }: ArmedTick,
  ): Promise<void> {
    await this.#table.update(headKey(tenant, topicFilter), 'SET #group = :tick', {
      condition: '#group.u <= :now AND #group.i <> :id',
      names: { '#group': GROUP + intervalMs },
      values: {
        ':tick': tickValue(tickId, dueAtMs + CONFLATED_TICK_LATE_MS),
        ':id': text(tickId),
        ':now': number(this.#table.settings.clock.now()),
      },
    });
  }

  /**
   * One tick works for a group at a time, so that workers get its messages in order: the one on the head, or any if
   * none is armed. A group without subscribers is removed from the head, unless a subscriber has joined since the head
   * was read: it stood in its shard before it joined. Throws while another process works on the same tick.
   */
  async begin(group: ConflatedGroup, tickId: string): Promise<BegunTick | 'over'> {
    const { tenant, topicFilter, intervalMs } = group;
    const untilMs = this.#table.settings.clock.now() + CONFLATED_CLAIM_MS;
    let head = await this.#claim(group, tickId, untilMs);
    const storedFilter = storedFilterOf(topicFilter, intervalMs);
    for (let looks = 0; head !== undefined && looks < CONFLATED_LOOKS_MAX; looks += 1) {
      const stored = await this.#table.get(headKey(tenant, storedFilter));
      const shards = shardsOf(stored);
      if (await this.#isAnyIn(tenant, storedFilter, shards)) {
        const marks = new Set(JSON.parse(textOf(stored, 'd') ?? '[]') as string[]);
        return {
          storedFilter,
          shards,
          isBehind: isBehind(stored, this.#table.settings.clock.now()),
          hasTold: (topic, position) => marks.has(markOf(topic, position)),
          done: async (told) => await this.#done(group, tickId, untilMs, told),
        };
      }
      head = await this.#leave(group, tickId, head);
    }
    if (head === undefined) return 'over';
    throw new Error('subscribers join this group and leave it');
  }

  /** The head as it was. Undefined: another tick is armed, or there is no group. */
  async #claim(
    { tenant, topicFilter, intervalMs }: ConflatedGroup,
    tickId: string,
    untilMs: number,
  ): Promise<Item | undefined> {
    const { ok, old, isRetry } = await this.#table.update(
      headKey(tenant, topicFilter),
      'SET #group = :tick',
      {
        condition:
          '(#group.i = :id OR #group.u <= :now) AND (attribute_not_exists(#group.y) OR #group.y <= :now)',
        names: { '#group': GROUP + intervalMs },
        values: {
          ':tick': tickValue(tickId, untilMs, untilMs),
          ':id': text(tickId),
          ':now': number(this.#table.settings.clock.now()),
        },
        returnsOld: true,
      },
    );
    if (ok) return old;
    const tick = tickOf(old, intervalMs);
    if (textOf(tick, 'i') !== tickId) return undefined;
    // An earlier attempt, whose answer was lost, has begun it.
    if (isRetry && numberOf(tick, 'y') === untilMs) return old;
    throw new Error('another process has this tick');
  }

  /**
   * Removes a group without subscribers from the head. Returns the present head if one has joined since `head` was
   * read.
   */
  async #leave(
    { tenant, topicFilter, intervalMs }: ConflatedGroup,
    tickId: string,
    head: Item,
  ): Promise<Item | undefined> {
    const { ok, old } = await this.#table.update(headKey(tenant, topicFilter), 'REMOVE #group', {
      condition: 'cj = :joined AND #group.i = :id',
      names: { '#group': GROUP + intervalMs },
      values: { ':joined': number(numberOf(head, 'cj') ?? 0), ':id': text(tickId) },
    });
    return !ok && textOf(tickOf(old, intervalMs), 'i') === tickId ? old : undefined;
  }

  /** Ends the claim last: if the process dies before, the tick comes again. */
  async #done(
    { tenant, topicFilter, intervalMs }: ConflatedGroup,
    tickId: string,
    untilMs: number,
    told: ReadonlyMap<string, string>,
  ): Promise<void> {
    const marks = JSON.stringify([...told].map(([topic, position]) => markOf(topic, position)));
    const names = { '#group': GROUP + intervalMs };
    const claim = { ':id': text(tickId), ':until': number(untilMs) };
    const stored = headKey(tenant, storedFilterOf(topicFilter, intervalMs));
    await this.#table.update(stored, 'SET d = :marks', {
      condition: 'attribute_exists(k)',
      values: { ':marks': text(marks) },
    });
    await this.#table.update(headKey(tenant, topicFilter), 'SET #group = :done', {
      condition: '#group.i = :id AND #group.y = :until',
      names,
      values: { ...claim, ':done': tickValue(tickId, 0) },
    });
  }

  async #isAnyIn(tenant: string, topicFilter: string, shards: number): Promise<boolean> {
    for (let shard = 0; shard < shards; shard += 1) {
      const name = { tenant, topicFilter, shard };
      const { entries, next } = await this.#shards.page(name, { after: undefined, limit: LOOKED_AT });
      if (entries.length > 0 || next !== undefined) return true;
    }
    return false;
  }
}

function markOf(topic: string, position: string): string {
  return hashOf(`${topic}\0${position}`).slice(0, MARK_LENGTH);
}
