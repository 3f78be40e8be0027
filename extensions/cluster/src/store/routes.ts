import type { Engine, Script } from './engine.ts';
import type { Membership } from './membership.ts';

/** Changes the routes of a process, and returns the processes that have to be told. */
const CHANGE: Script = {
  name: 'apusRoutes',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local puts = tonumber(ARGV[2])
for i = 1, puts do redis.call('HSET', KEYS[2], ARGV[1 + 2 * i], ARGV[2 + 2 * i]) end
for i = 3 + 2 * puts, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)`,
};

/** All routes: of members, and of processes whose sessions another one is taking over. */
const LOAD: Script = {
  name: 'apusAllRoutes',
  lua: `local answer = {}
local function add(process)
  answer[#answer + 1] = process
  answer[#answer + 1] = redis.call('HGETALL', ARGV[1] .. process)
end
for _, process in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do add(process) end
for _, process in ipairs(redis.call('HKEYS', KEYS[2])) do add(process) end
return answer`,
};

/** Routes of one process: each with a value of its own. */
export type RoutesOf = ReadonlyMap<string, string>;

/** The messages that each process wants, for processes that join later. */
export class StoredRoutes {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /** Returns all members. Undefined: this process has been given up. */
  async change(
    put: readonly (readonly [route: string, value: string])[],
    removed: readonly string[],
  ): Promise<readonly string[] | undefined> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, this.#engine.key('routes', me)];
    const answer = await this.#engine.run(CHANGE, keys, [me, put.length, ...put.flat(), ...removed]);
    return answer === 0 ? undefined : (answer as Buffer[]).map((name) => name.toString());
  }

  /** One step with the list of processes: a process that changes its routes later tells this one. */
  async load(): Promise<ReadonlyMap<string, RoutesOf>> {
    const keys = [this.#membership.membersKey, this.#engine.key('reapers')];
    const answer = (await this.#engine.run(LOAD, keys, [`${this.#engine.key('routes')}:`])) as (
      | Buffer
      | Buffer[]
    )[];
    const routes = new Map<string, RoutesOf>();
    for (let index = 0; index < answer.length; index += 2) {
      const fields = (answer[index + 1] as Buffer[]).map((field) => field.toString());
      const of = new Map<string, string>();
      for (let at = 0; at < fields.length; at += 2) of.set(fields[at] ?? '', fields[at + 1] ?? '');
      routes.set((answer[index] as Buffer).toString(), of);
    }
    return routes;
  }
}
