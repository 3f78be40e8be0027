import { PRESENCE_COUNT_FRESH_MS, PRESENCE_COUNT_SAMPLE, PRESENCE_TICK_LATE_MS } from '../limits.ts';
import { PRESENCE_MEMBERS, presenceRoomKey } from '../table/keys.ts';
import { endOf, type Table } from '../table/table.ts';
import { type Item, number, numberOf, VERSION } from '../table/values.ts';

/*
 * The item of a room: `n` about how many members it has, `a` when they were counted, `d` when its tick is due. One
 * join in this many writes it, so a room takes as many joins as its partition takes writes.
 */

export class Rooms {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** Counts the members if the room may be full: their number is sampled, and drifts. */
  async isFull(tenant: string, room: string, membersMax: number): Promise<boolean> {
    if (membersMax < PRESENCE_COUNT_SAMPLE * PRESENCE_COUNT_SAMPLE)
      return (await this.count(tenant, room)) >= membersMax;
    const item = await this.#item(tenant, room);
    if ((numberOf(item, 'n') ?? 0) < membersMax) return false;
    const nowMs = this.#table.settings.clock.now();
    if (Math.abs(nowMs - (numberOf(item, 'a') ?? 0)) < PRESENCE_COUNT_FRESH_MS) return true;
    const count = await this.count(tenant, room);
    await this.#set(tenant, room, 'SET n = :n, a = :a, v = :v', { ':n': number(count), ':a': number(nowMs) });
    return count >= membersMax;
  }

  /** A member has joined (1) or left (-1). */
  async changed(tenant: string, room: string, by: 1 | -1): Promise<void> {
    if (this.#table.settings.random() * PRESENCE_COUNT_SAMPLE >= 1) return;
    const change = number(by * PRESENCE_COUNT_SAMPLE);
    await this.#set(tenant, room, 'SET v = :v ADD n :n', { ':n': change });
  }

  async count(tenant: string, room: string): Promise<number> {
    const { p } = presenceRoomKey(tenant, room);
    const range = { p, from: PRESENCE_MEMBERS, to: endOf(PRESENCE_MEMBERS), attributes: ['s'] };
    return (await this.#table.queryAll(range)).length;
  }

  /** A tick that is a minute late has lost its timer. */
  async isArmed(tenant: string, room: string): Promise<boolean> {
    const dueAtMs = numberOf(await this.#item(tenant, room), 'd');
    return dueAtMs !== undefined && dueAtMs + PRESENCE_TICK_LATE_MS > this.#table.settings.clock.now();
  }

  async arm(tenant: string, room: string, dueAtMs: number): Promise<void> {
    await this.#set(tenant, room, 'SET d = :d, v = :v', { ':d': number(dueAtMs) });
  }

  async disarm(tenant: string, room: string): Promise<void> {
    await this.#set(tenant, room, 'SET v = :v REMOVE d', {});
  }

  async #item(tenant: string, room: string): Promise<Item | undefined> {
    return await this.#table.get(presenceRoomKey(tenant, room));
  }

  async #set(tenant: string, room: string, expression: string, values: Item): Promise<void> {
    await this.#table.update(presenceRoomKey(tenant, room), expression, {
      values: { ...values, ':v': number(VERSION) },
    });
  }
}
