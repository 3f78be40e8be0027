import {
  type Ban,
  BanList,
  type BanName,
  type Bannable,
  type Bans,
  type Identity,
  type SessionRef,
  steadyNow,
} from '@apus/broker';
import { BANS_BYTES_MAX, BANS_FRESH_MS, DECISIONS_MAX } from '../limits.ts';
import { bansKey, type Key } from '../table/keys.ts';
import { marshalled, type Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import { HeldBans } from './held-bans.ts';
import { holderOf } from './holder.ts';

/*
 * The item of the list. `n` counts its changes, `d` is JSON of the bans of all tenants.
 */

/**
 * The list of bans: one item, read together with a frame if this process has not read it for half a minute. Until then
 * the process uses the list that it has:
 *
 *     operator                           handler of frames
 *                                        reads the list
 *     writes: a is banned
 *     ends the sessions of a
 *                                        CONNECT of a: admitted, by the old list
 *     (half a minute later)
 *     ends the sessions of a once more   reads the list: refuses a
 */
export class DynamoBans implements Bans {
  readonly #table: Table;
  readonly #list: BanList;
  /** Undefined: there are no bans. */
  #held: HeldBans | undefined;
  #change = 0;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(table: Table) {
    this.#table = table;
    this.#list = new BanList(table.settings.clock);
  }

  banOn(identity: Bannable, clientId: string, host: string | undefined): Ban | undefined {
    return this.#list.banOn(identity, clientId, host);
  }

  banOnHost(host: string | undefined): Ban | undefined {
    return this.#list.banOnHost(host);
  }

  holderOf(identity: Identity, host: string | undefined): string | undefined {
    return holderOf(identity, host);
  }

  get keepsOut(): ((session: SessionRef) => boolean) | undefined {
    const held = this.#held;
    return held && ((session) => held.keepsOut(session));
  }

  /** The ban that names the client of a session; `holder`: the holder of its connection, if it has one. */
  banOnSession(identity: Identity, clientId: string, holder: string | undefined): Ban | undefined {
    return this.banOn(identity, clientId, undefined) ?? this.#held?.banOnHost(holder);
  }

  /** Keys that a frame has to read together with its own items: nearly always none. */
  get wanted(): readonly Key[] {
    return this.#isFresh ? [] : [bansKey];
  }

  /** The item was read; `askedAtMs`: when the request was sent. */
  keep(item: Item | undefined, askedAtMs: number): void {
    this.#readAtMs = askedAtMs;
    const change = numberOf(item, 'n') ?? 0;
    if (change === this.#change) return;
    this.#change = change;
    this.#list.replace(bansOf(item));
    this.#held = this.#list.all().length === 0 ? undefined : new HeldBans(this.#list);
  }

  /** For handlers that read nothing else. */
  async refresh(): Promise<void> {
    if (!this.#isFresh) await this.#read();
  }

  /** Reads the present list. */
  async all(): Promise<readonly Ban[]> {
    await this.#read();
    return this.#list.all();
  }

  /** Adds a ban, or replaces the one of the same name. False when the list is full. */
  async add(ban: Ban): Promise<boolean> {
    return await this.#update((list) => list.add(ban));
  }

  /** False when there was no such ban. */
  async remove(name: BanName): Promise<boolean> {
    return await this.#update((list) => list.remove(name));
  }

  get #isFresh(): boolean {
    return steadyNow(this.#table.settings.clock) - this.#readAtMs < BANS_FRESH_MS;
  }

  async #read(): Promise<void> {
    // The time of the request and not of the answer, which may miss a ban that was written in between.
    const askedAtMs = steadyNow(this.#table.settings.clock);
    this.keep(await this.#table.get(bansKey), askedAtMs);
  }

  async #update(change: (list: BanList) => boolean): Promise<boolean> {
    for (let attempt = 0; attempt < DECISIONS_MAX; attempt += 1) {
      await this.#read();
      const list = new BanList(this.#table.settings.clock, this.#list.all());
      if (!change(list)) return false;
      const json = JSON.stringify(list.all());
      if (Buffer.byteLength(json) > BANS_BYTES_MAX) return false;
      if (await this.#write(json)) return true;
    }
    throw new Error('the list of bans is being changed by too many at once: try again');
  }

  async #write(json: string): Promise<boolean> {
    const item = { ...marshalled(bansKey), v: number(VERSION), n: number(this.#change + 1), d: text(json) };
    const isUnchanged = this.#change === 0 ? 'attribute_not_exists(n)' : 'n = :change';
    const { ok, old, isRetry } = await this.#table.put(item, {
      condition: isUnchanged,
      ...(this.#change > 0 && { values: { ':change': number(this.#change) } }),
    });
    // An earlier attempt, whose answer was lost, may have written it.
    const isDone = ok || (isRetry && textOf(old, 'd') === json);
    if (isDone) this.keep(item, steadyNow(this.#table.settings.clock));
    return isDone;
  }
}

function bansOf(item: Item | undefined): readonly Ban[] {
  const json = textOf(item, 'd');
  return json === undefined ? [] : (JSON.parse(json) as readonly Ban[]);
}
