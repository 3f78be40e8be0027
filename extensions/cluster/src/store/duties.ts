import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import type { Membership } from './membership.ts';

/**
 * ARGV: process and duty. Returns 0 when the process has been given up, 1 when another one has the duty, 2 when this
 * one has it.
 */
const TAKE: Script = {
  name: 'apusDutyTake',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local owner = redis.call('HGET', KEYS[2], ARGV[2])
if owner and owner ~= ARGV[1] then
  if redis.call('ZSCORE', KEYS[1], owner) or redis.call('HEXISTS', KEYS[3], owner) == 1 then return 1 end
end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[1])
return 2`,
};

/** ARGV: process and a dead one. Returns the duties that this one has now. */
const INHERIT: Script = {
  name: 'apusDutyInherit',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local duties = redis.call('HGETALL', KEYS[2])
local inherited = {}
for i = 1, #duties, 2 do
  if duties[i + 1] == ARGV[2] then
    redis.call('HSET', KEYS[2], duties[i], ARGV[1])
    inherited[#inherited + 1] = duties[i]
  end
end
return inherited`,
};

/**
 * Work that only one process at a time does. The process keeps the duty until it is given up; then its heir has it,
 * with its sessions.
 */
export class Duties {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /**
   * False: another process has it.
   * @throws {DiskError} if this one has been given up
   */
  async take(duty: string): Promise<boolean> {
    return (await this.#run(TAKE, duty)) === 2;
  }

  /**
   * Returns the duties of a dead process.
   * @throws {DiskError} if this one has been given up itself
   */
  async inherit(dead: string): Promise<readonly string[]> {
    return ((await this.#run(INHERIT, dead)) as Buffer[]).map(String);
  }

  async #run(script: Script, argument: string): Promise<unknown> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, this.#engine.key('duties'), this.#engine.key('reapers')];
    const answer = await this.#engine.run(script, keys, [me, argument]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    return answer;
  }
}
