import type { Engine, Script } from './engine.ts';
import { EngineError } from './errors.ts';
import { EPOCHS_MAX, LEASE_MS } from './limits.ts';

/** Milliseconds since the epoch, by the engine's clock: processes need not agree on the time. */
const NOW = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
`;

const JOIN: Script = {
  name: 'apusJoin',
  lua: `${NOW}
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[1])
local epoch = redis.call('INCR', KEYS[2])
redis.call('SADD', KEYS[3], epoch)
return epoch`,
};

/**
 * Returns 0 when the process has been given up; otherwise the names of those whose lease is over.
 *
 * No lease ends later than one that begins now, and not all end before one is renewed: else the engine's clock has
 * stepped, or all processes have slept, and each gets a lease anew. One that was ended (0) stays so.
 */
const RENEW: Script = {
  name: 'apusRenew',
  lua: `${NOW}
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local lease = now + ARGV[2]
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')[2]
local wrong = tonumber(last) < now and '(0' or '(' .. lease
for _, name in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], wrong, '+inf')) do redis.call('ZADD', KEYS[1], lease, name) end
redis.call('ZADD', KEYS[1], lease, ARGV[1])
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now)`,
};

const EXPIRE: Script = {
  name: 'apusExpire',
  lua: `if redis.call('ZSCORE', KEYS[1], ARGV[1]) then redis.call('ZADD', KEYS[1], 0, ARGV[1]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)`,
};

const EXPIRE_ALL: Script = {
  name: 'apusExpireAll',
  lua: `for _, name in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 0, name) end
return 1`,
};

/**
 * Gives up a process whose lease is over: from this step on it can write nothing, and its journals and clients belong
 * to the caller. A second call by the same process returns the same: the first answer may have been lost.
 */
const REAP: Script = {
  name: 'apusReap',
  lua: `${NOW}
local me, dead = ARGV[1], ARGV[2]
if not redis.call('ZSCORE', KEYS[1], me) then return 0 end
local lease = redis.call('ZSCORE', KEYS[1], dead)
if lease then
  if tonumber(lease) >= now then return 0 end
  redis.call('ZREM', KEYS[1], dead)
  redis.call('HSET', KEYS[2], dead, me)
elseif redis.call('HGET', KEYS[2], dead) ~= me then return 0 end
local epochs = redis.call('SMEMBERS', KEYS[3])
for _, epoch in ipairs(epochs) do redis.call('SADD', KEYS[4], epoch) end
local epoch = redis.call('INCR', KEYS[5])
redis.call('SADD', KEYS[4], epoch)
redis.call('SUNIONSTORE', KEYS[7], KEYS[7], KEYS[6])
local unfinished = {}
local reapers = redis.call('HGETALL', KEYS[2])
for i = 1, #reapers, 2 do
  if reapers[i + 1] == dead then
    redis.call('HSET', KEYS[2], reapers[i], me)
    unfinished[#unfinished + 1] = reapers[i]
  end
end
return {epoch, epochs, unfinished}`,
};

/** The sessions of a dead process are here now. Returns the processes that have to be told. */
const ADOPTED: Script = {
  name: 'apusAdopted',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
for i = 3, #KEYS do redis.call('DEL', KEYS[i]) end
return redis.call('ZRANGE', KEYS[1], 0, -1)`,
};

/** The clients that a process took over when it gave another one up. */
export interface Reaped {
  /** The new epoch of the caller: its numbers are above all that it has taken over. */
  readonly epoch: number;
  readonly journals: readonly number[];
  /** The process, and those whose sessions it was taking over. */
  readonly processes: readonly string[];
}

/** The processes of the cluster. Each has a lease in the engine, and renews it. */
export class Membership {
  /** The name of this process, never used again. */
  readonly me: string;
  readonly #engine: Engine;

  constructor(engine: Engine, me: string) {
    this.#engine = engine;
    this.me = me;
  }

  get membersKey(): string {
    return this.#engine.key('members');
  }

  /** Takes a lease, and returns the epoch of this process. */
  async join(): Promise<number> {
    const keys = [this.membersKey, this.#engine.key('epochs'), this.#journals(this.me)];
    return checkEpoch(Number(await this.#engine.run(JOIN, keys, [this.me, LEASE_MS])));
  }

  /** Returns the members whose lease is over. Undefined: this process has been given up, and has to stop. */
  async renew(): Promise<readonly string[] | undefined> {
    const answer = await this.#engine.run(RENEW, [this.membersKey], [this.me, LEASE_MS]);
    return answer === 0 ? undefined : names(answer);
  }

  /** Ends the lease at once, and returns the processes that may take over. */
  async expire(): Promise<readonly string[]> {
    return names(await this.#engine.run(EXPIRE, [this.membersKey], [this.me])).filter(
      (name) => name !== this.me,
    );
  }

  /** Ends the lease of another process, which is known to be dead. */
  async end(process: string): Promise<void> {
    await this.#engine.run(EXPIRE, [this.membersKey], [process]);
  }

  /** Ends all leases: no other process uses the engine. Call it before `join`. */
  async endAll(): Promise<void> {
    await this.#engine.run(EXPIRE_ALL, [this.membersKey], []);
  }

  /** Undefined: the process is alive, or another one has given it up. */
  async reap(dead: string): Promise<Reaped | undefined> {
    const { key } = keyOf(this.#engine);
    const keys = [
      this.membersKey,
      key('reapers'),
      this.#journals(dead),
      this.#journals(this.me),
      key('epochs'),
      key('homes', dead),
      key('homes', this.me),
    ];
    const answer = await this.#engine.run(REAP, keys, [this.me, dead]);
    if (answer === 0) return undefined;
    const [epoch, epochs, unfinished] = answer as [number, Buffer[], Buffer[]];
    const journals = epochs.map((each) => Number(each.toString()));
    return { epoch: checkEpoch(epoch), journals, processes: [dead, ...names(unfinished)] };
  }

  /**
   * Ends the take-over that `reap` has begun. Returns all members; undefined if this process has been given up itself.
   */
  async adopted(dead: string): Promise<readonly string[] | undefined> {
    const { key } = keyOf(this.#engine);
    const keys = [
      this.membersKey,
      key('reapers'),
      this.#journals(dead),
      key('homes', dead),
      key('routes', dead),
      key('configuration', dead),
    ];
    const answer = await this.#engine.run(ADOPTED, keys, [this.me, dead]);
    return answer === 0 ? undefined : names(answer);
  }

  /** All members, also those whose lease is over and that no process has given up yet. */
  async all(): Promise<readonly string[]> {
    return await this.#engine.client.zrange(this.membersKey, 0, -1);
  }

  #journals(process: string): string {
    return this.#engine.key('journals', process);
  }
}

function keyOf(engine: Engine): { key(...parts: readonly (string | number)[]): string } {
  return { key: (...parts) => engine.key(...parts) };
}

function names(answer: unknown): string[] {
  return (answer as Buffer[]).map((each) => each.toString());
}

function checkEpoch(epoch: number): number {
  if (epoch < EPOCHS_MAX) return epoch;
  throw new EngineError(`The engine has numbered ${EPOCHS_MAX} processes. Begin with an empty one.`);
}
