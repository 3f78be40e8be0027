import { BANS_MAX, type Ban, type BanName, type BanStore, type Clock } from '@apus/broker';
import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import type { Membership } from './membership.ts';

/**
 * ARGV: process, the most bans, name and value of the ban, and names and values of bans that are over: if another
 * process has replaced one of these, its value differs. Returns 0 when the process has been given up, 1 when the list
 * is full, 2 when the ban is stored.
 */
const PUT: Script = {
  name: 'apusBan',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
for i = 5, #ARGV, 2 do
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then redis.call('HDEL', KEYS[2], ARGV[i]) end
end
if redis.call('HEXISTS', KEYS[2], ARGV[3]) == 0 and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[2]) then return 1 end
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
return 2`,
};

const REMOVE: Script = {
  name: 'apusUnban',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
return 2`,
};

/**
 * The bans of all processes that share the engine: a hash of name → JSON. The broker's list, in memory, is in force.
 */
export class ValkeyBans implements BanStore {
  readonly #engine: Engine;
  readonly #membership: Membership;
  readonly #clock: Clock;
  #last: Readonly<Record<string, string>> = {};

  constructor(engine: Engine, membership: Membership, clock: Clock) {
    this.#engine = engine;
    this.#membership = membership;
    this.#clock = clock;
  }

  /** The present bans in the engine. */
  async load(): Promise<Ban[]> {
    this.#last = await this.#engine.client.hgetall(this.#key);
    return Object.values(this.#last).map(banOf);
  }

  /** Returns 0: `put` removes expired bans. No process can remove them by name alone. */
  all(): Ban[] {
    return [];
  }

  /** @throws {DiskError} if the other processes have given this one up */
  async put(ban: Ban): Promise<boolean> {
    const ended = Object.entries(this.#last).filter(([, value]) => this.#isOver(banOf(value)));
    const args = [BANS_MAX, nameOf(ban), JSON.stringify(ban), ...ended.flat()];
    return (await this.#run(PUT, args)) === 2;
  }

  /** @throws {DiskError} if the other processes have given this one up */
  async remove(name: BanName): Promise<void> {
    await this.#run(REMOVE, [nameOf(name)]);
  }

  async #run(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    const { membersKey, me } = this.#membership;
    const answer = await this.#engine.run(script, [membersKey, this.#key], [me, ...args]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    return answer;
  }

  #isOver({ untilMs }: Ban): boolean {
    return untilMs !== undefined && untilMs <= this.#clock.now();
  }

  get #key(): string {
    return this.#engine.key('bans');
  }
}

function banOf(value: string): Ban {
  return JSON.parse(value) as Ban;
}

function nameOf({ as, tenant, who }: BanName): string {
  return JSON.stringify([as, tenant, who]);
}
