import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import type { Membership } from './membership.ts';

const IF_MEMBER = `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
`;

/** Each returns 0 if the process has been given up, 1 if there was nothing to change, and 2 after a change. */
const ADD: Script = {
  name: 'apusTenantAdd',
  lua: `${IF_MEMBER}return 1 + redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3])`,
};

const REPLACE: Script = {
  name: 'apusTenantReplace',
  lua: `${IF_MEMBER}if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[3] then return 1 end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[4])
return 2`,
};

const REMOVE: Script = {
  name: 'apusTenantRemove',
  lua: `${IF_MEMBER}return 1 + redis.call('HDEL', KEYS[2], ARGV[2])`,
};

/** KEYS[3] says that the register exists: it is not created again after its last tenant was removed. */
const BEGIN: Script = {
  name: 'apusTenantsBegin',
  lua: `${IF_MEMBER}if redis.call('SETNX', KEYS[3], 1) == 0 then return 1 end
for i = 2, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
return 2`,
};

/** The register of tenants of all processes that share the engine: a hash of name → entry, in JSON. */
export class ValkeyTenants {
  readonly #engine: Engine;
  readonly #membership: Membership;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  async load(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.#engine.client.hgetall(this.#key)));
  }

  async get(name: string): Promise<string | undefined> {
    return (await this.#engine.client.hget(this.#key, name)) ?? undefined;
  }

  /**
   * Creates the register with these tenants. False if it exists.
   * @throws {DiskError} if this process has been given up
   */
  async begin(tenants: ReadonlyMap<string, string>): Promise<boolean> {
    return await this.#run(BEGIN, [...tenants].flat());
  }

  /**
   * False if a tenant has this name.
   * @throws {DiskError} if this process has been given up
   */
  async add(name: string, json: string): Promise<boolean> {
    return await this.#run(ADD, [name, json]);
  }

  /**
   * False if there is another entry than `before`, or none.
   * @throws {DiskError} if this process has been given up
   */
  async replace(name: string, before: string, json: string): Promise<boolean> {
    return await this.#run(REPLACE, [name, before, json]);
  }

  /**
   * False if there was none.
   * @throws {DiskError} if this process has been given up
   */
  async remove(name: string): Promise<boolean> {
    return await this.#run(REMOVE, [name]);
  }

  async #run(script: Script, args: readonly string[]): Promise<boolean> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, this.#key, this.#engine.key('tenants-made')];
    const answer = await this.#engine.run(script, keys, [me, ...args]);
    if (answer === 0) throw new DiskError(GIVEN_UP);
    return answer === 2;
  }

  get #key(): string {
    return this.#engine.key('tenants');
  }
}
