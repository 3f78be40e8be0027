import type { Engine, Script } from './engine.ts';

const STATE = `local function state(owner)
  local lease = redis.call('ZSCORE', KEYS[1], owner)
  if lease then
    local t = redis.call('TIME')
    if tonumber(lease) < t[1] * 1000 + math.floor(t[2] / 1000) then return 'moving' end
    return owner
  end
  if redis.call('HEXISTS', KEYS[3], owner) == 1 then return 'moving' end
  return false
end
`;

const FIND: Script = {
  name: 'apusFind',
  lua: `${STATE}
local owner = redis.call('HGET', KEYS[2], ARGV[1])
return owner and state(owner) or ''`,
};

const CLAIM: Script = {
  name: 'apusClaim',
  lua: `${STATE}
local me, client = ARGV[1], ARGV[2]
if not redis.call('ZSCORE', KEYS[1], me) then return 'moving' end
local owner = redis.call('HGET', KEYS[2], client)
if owner and owner ~= me then
  local found = state(owner)
  if found then return found end
end
redis.call('HSET', KEYS[2], client, me)
redis.call('SADD', KEYS[4], client)
return me`,
};

const RELEASE: Script = {
  name: 'apusRelease',
  lua: `if redis.call('HGET', KEYS[1], ARGV[2]) == ARGV[1] then
  redis.call('HDEL', KEYS[1], ARGV[2])
  redis.call('SREM', KEYS[2], ARGV[2])
end
return 1`,
};

/** Of clients of a process that was given up: those with a session are the caller's now, the others have no home. */
const INHERIT: Script = {
  name: 'apusInherit',
  lua: `for i = 3, #ARGV, 2 do
  local client = ARGV[i]
  if redis.call('HGET', KEYS[1], client) == ARGV[2] then
    if ARGV[i + 1] == '1' then redis.call('HSET', KEYS[1], client, ARGV[1])
    else
      redis.call('HDEL', KEYS[1], client)
      redis.call('SREM', KEYS[2], client)
    end
  end
end
return 1`,
};

const INHERIT_STEP = 500;

/** Where a client's sessions are: at this process, at no process, at another one, or on their way to one. */
export type Home = 'here' | 'none' | 'moving' | { readonly process: string };

/** Each client identifier whose sessions some process holds is claimed by that process. */
export class Claims {
  readonly #engine: Engine;
  readonly #me: string;

  constructor(engine: Engine, me: string) {
    this.#engine = engine;
    this.#me = me;
  }

  async find(clientId: string): Promise<Home> {
    const keys = [this.#key('members'), this.#key('claims'), this.#key('reapers')];
    return this.#homeOf(await this.#engine.run(FIND, keys, [clientId]));
  }

  /** Takes the client where no living process has it. */
  async claim(clientId: string): Promise<Home> {
    const keys = [
      this.#key('members'),
      this.#key('claims'),
      this.#key('reapers'),
      this.#key('homes', this.#me),
    ];
    return this.#homeOf(await this.#engine.run(CLAIM, keys, [this.#me, clientId]));
  }

  async release(clientId: string): Promise<void> {
    const keys = [this.#key('claims'), this.#key('homes', this.#me)];
    await this.#engine.run(RELEASE, keys, [this.#me, clientId]);
  }

  /** The clients of a process that was given up are those of this one, where they have a session. */
  async inherit(dead: string, hasSession: (clientId: string) => boolean): Promise<void> {
    const keys = [this.#key('claims'), this.#key('homes', this.#me)];
    let cursor = '0';
    do {
      const [next, clients] = await this.#engine.client.sscan(
        this.#key('homes', dead),
        cursor,
        'COUNT',
        INHERIT_STEP,
      );
      const args = clients.flatMap((client) => [client, hasSession(client) ? '1' : '0']);
      await this.#engine.run(INHERIT, keys, [this.#me, dead, ...args]);
      cursor = next;
    } while (cursor !== '0');
  }

  #key(...parts: readonly string[]): string {
    return this.#engine.key(...parts);
  }

  #homeOf(answer: unknown): Home {
    const owner = (answer as Buffer).toString();
    if (owner === '') return 'none';
    if (owner === 'moving') return 'moving';
    return owner === this.#me ? 'here' : { process: owner };
  }
}
