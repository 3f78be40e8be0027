import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import { TURN_MS } from './limits.ts';
import type { Membership } from './membership.ts';

/** In ms, with their fractions: no two steps of the engine have the same. */
const NOW = `local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
`;

/** ARGV: key and its delay in ms. */
const SET: Script = {
  name: 'apusDelay',
  lua: `${NOW}redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
return 1`,
};

/** ARGV: key and the time that it had when it was taken: it stays where it has been set again. */
const DONE: Script = {
  name: 'apusDelayDone',
  lua: `if redis.call('ZSCORE', KEYS[1], ARGV[1]) == ARGV[2] then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 1`,
};

/**
 * ARGV: process, how long its turn lasts in ms, the most keys. Returns 0 when the process has been given up, 1 when
 * another living process has its turn; otherwise in how many ms the next message is due, or -1, and the keys of due
 * messages, each with its time.
 */
const TAKE: Script = {
  name: 'apusDelayTake',
  lua: `${NOW}if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local owner = redis.call('GET', KEYS[3])
if owner and owner ~= ARGV[1] and redis.call('ZSCORE', KEYS[1], owner) then return 1 end
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'WITHSCORES', 'LIMIT', 0, ARGV[3])
if #due > 0 then
  redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[2])
  return {0, due}
end
if owner == ARGV[1] then redis.call('DEL', KEYS[3]) end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return {first[2] and math.max(0, math.ceil(first[2] - now)) or -1, due}`,
};

/** A message that is due. */
export interface DueKey {
  readonly key: string;
  /** Its time, as the engine has it. */
  readonly time: string;
}

/** Messages that are due. */
export interface DueKeys {
  /** By time. If there are any, only this process publishes now. */
  readonly due: readonly DueKey[];
  /** If there are none: after how many ms the next one is due. */
  readonly nextMs: number | undefined;
}

/**
 * The times of delayed messages, by the engine's clock. One process at a time publishes due messages: it has its turn
 * for some seconds, or until it has died. A key stays until its message is done.
 */
export class ValkeyDelays {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  async set(key: string, delayMs: number): Promise<void> {
    await this.#engine.run(SET, [this.#key], [key, Math.max(0, Math.ceil(delayMs))]);
  }

  /** The message has been published, or is not there. */
  async done({ key, time }: DueKey): Promise<void> {
    await this.#engine.run(DONE, [this.#key], [key, time]);
  }

  async delete(key: string): Promise<void> {
    await this.#engine.client.zrem(this.#key, key);
  }

  /**
   * Undefined: another process has its turn.
   * @throws {DiskError} if the other processes have given this one up
   */
  async take(countMax: number): Promise<DueKeys | undefined> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, this.#key, this.#engine.key('delayed-turn')];
    const answer = await this.#engine.run(TAKE, keys, [me, TURN_MS, countMax]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    if (answer === 1) return undefined;
    const [nextMs, due] = answer as [number, Buffer[]];
    return { due: pairsOf(due.map(String)), nextMs: nextMs < 0 ? undefined : nextMs };
  }

  get #key(): string {
    return this.#engine.key('delayed');
  }
}

function pairsOf(texts: readonly string[]): readonly DueKey[] {
  return texts.flatMap((key, index) => (index % 2 === 0 ? [{ key, time: texts[index + 1] ?? '' }] : []));
}
