import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import { HELD_STEP } from './limits.ts';
import type { Membership } from './membership.ts';

/** For one field: sets the process's part to `part`; KEYS[3] holds the sums of all processes. */
const SET_PART = `local function number(key, field) return tonumber(redis.call('HGET', key, field) or 0) end
local function set(key, field, value)
  if value <= 0 then redis.call('HDEL', key, field) else redis.call('HSET', key, field, value) end
end
local function setPart(field, value, given)
  local part = number(KEYS[2], field)
  set(KEYS[3], field, number(KEYS[3], field) - part - given + value)
  if value ~= part then set(KEYS[2], field, value) end
end
`;

/**
 * ARGV: process, and for each count its field, what the process needs in any case, what it asks for, and how much all
 * may have together, or 0. Returns its present part of each; 0 when it has been given up.
 */
const TAKE: Script = {
  name: 'apusHold',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
${SET_PART}
local granted = {}
for i = 2, #ARGV, 4 do
  local field, least, want, max = ARGV[i], tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3])
  if max > 0 then
    local others = number(KEYS[3], field) - number(KEYS[2], field)
    want = math.max(least, math.min(want, max - others))
  end
  setPart(field, want, 0)
  granted[#granted + 1] = want
end
return granted`,
};

/**
 * ARGV: process, and for each count its field and the present part of the process. Removes the parts of the dead one,
 * in KEYS[4].
 */
const INHERIT: Script = {
  name: 'apusHoldInherit',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
${SET_PART}
for i = 2, #ARGV, 2 do
  setPart(ARGV[i], tonumber(ARGV[i + 1]), number(KEYS[4], ARGV[i]))
  redis.call('HDEL', KEYS[4], ARGV[i])
end
return 1`,
};

/** One count of this process. */
export interface HeldPart {
  readonly field: string;
  /** The part that the process needs in any case. */
  readonly least: number;
  readonly want: number;
  /** How much all processes may have together; 0: no limit. */
  readonly max: number;
}

/**
 * Counts of what holders have at all processes: a hash of field → sum, and for each process one of field → its part. A
 * write has the new part and not the difference, so a repeated write changes nothing.
 */
export class HeldCounts {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /**
   * Returns the present parts of this process: as much as it asks for, or less if the others leave less.
   *
   * @throws {DiskError} if the other processes have given this one up
   */
  async take(parts: readonly HeldPart[]): Promise<readonly number[]> {
    const args = parts.flatMap(({ field, least, want, max }) => [field, least, want, max]);
    return (await this.#run(TAKE, this.#keys(), args)) as number[];
  }

  /**
   * Removes the parts of a dead process. `own` returns, within the call's turn of the event loop, this process's parts
   * of the fields, including the sessions that it has taken over.
   */
  async inherit(dead: string, own: (fields: readonly string[]) => readonly number[]): Promise<void> {
    const key = this.#ofProcess(dead);
    let cursor = '0';
    do {
      const [next, found] = await this.#engine.client.hscan(key, cursor, 'COUNT', HELD_STEP);
      const fields = found.filter((_, index) => index % 2 === 0);
      const parts = own(fields);
      const args = fields.flatMap((field, index) => [field, parts[index] ?? 0]);
      await this.#run(INHERIT, [...this.#keys(), key], args);
      cursor = next;
    } while (cursor !== '0');
  }

  async #run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> {
    const answer = await this.#engine.run(script, keys, [this.#membership.me, ...args]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    return answer;
  }

  #keys(): readonly string[] {
    const { membersKey, me } = this.#membership;
    return [membersKey, this.#ofProcess(me), this.#engine.key('held')];
  }

  #ofProcess(process: string): string {
    return this.#engine.key('held', process);
  }
}
