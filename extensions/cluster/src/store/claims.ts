import type { Engine, Script } from './engine.ts';
import { CLAIMS_PAUSE_MS, CLAIMS_STEP } from './limits.ts';

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

/**
 * ARGV: process, and for each change '1' to claim or '0' to release, and the client. Returns which process has each of
 * the claimed clients.
 *
 * A process that was given up changes nothing: its heir decides which of its clients have a session.
 */
const CHANGE: Script = {
  name: 'apusClaims',
  lua: `${STATE}
local me = ARGV[1]
local isMember = redis.call('ZSCORE', KEYS[1], me)
local homes = {}
for i = 2, #ARGV, 2 do
  local client = ARGV[i + 1]
  local owner = redis.call('HGET', KEYS[2], client)
  if ARGV[i] == '1' then
    local home = me
    if not isMember then home = 'moving'
    elseif owner ~= me then
      home = owner and state(owner) or me
      if home == me then
        redis.call('HSET', KEYS[2], client, me)
        redis.call('SADD', KEYS[4], client)
      end
    end
    homes[#homes + 1] = home
  elseif isMember and owner == me then
    redis.call('HDEL', KEYS[2], client)
    redis.call('SREM', KEYS[4], client)
  end
end
return homes`,
};

/** Clients of a dead process: those with a session belong to the caller now, the others to no process. */
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

/** The state of a client: its sessions are at this process, at no process, at another one, or on their way to one. */
export type Home = 'here' | 'none' | 'moving' | { readonly process: string };

/** A client that is being claimed, with a caller that waits, or released. */
interface Change {
  readonly clientId: string;
  readonly answer: { resolve(home: Home): void; reject(error: unknown): void } | undefined;
}

/**
 * A process claims each client identifier whose sessions it has.
 *
 * Claims and releases that follow each other closely are one command, since its cost is mostly the write to the
 * engine, and the wake-ups there and here. A claim after a pause leaves in its turn of the event loop; within the
 * pause it waits for the rest of it. A release waits for a claim to leave with, at most for a pause.
 */
export class Claims {
  readonly #engine: Engine;
  readonly #me: string;
  /** Changes in the order of the calls. */
  #changes: Change[] = [];
  /** How many of them are claims. */
  #claiming = 0;
  #isRunning = false;
  #isReleasing = false;
  #answeredAtMs = Number.NEGATIVE_INFINITY;

  constructor(engine: Engine, me: string) {
    this.#engine = engine;
    this.#me = me;
  }

  async find(clientId: string): Promise<Home> {
    const keys = [this.#key('members'), this.#key('claims'), this.#key('reapers')];
    return this.#homeOf(await this.#engine.run(FIND, keys, [clientId]));
  }

  /** Claims the client, if no living process has it. */
  claim(clientId: string): Promise<Home> {
    return new Promise((resolve, reject) => {
      this.#changes.push({ clientId, answer: { resolve, reject } });
      this.#claiming += 1;
      this.#runSoon();
    });
  }

  /** If an answer is lost and the claim stays, no harm is done: its process still answers for the client. */
  release(clientId: string): void {
    this.#changes.push({ clientId, answer: undefined });
    this.#releaseLater();
  }

  /** Takes over the clients of a dead process that have a session. */
  async inherit(dead: string, hasSession: (clientId: string) => boolean): Promise<void> {
    const keys = [this.#key('claims'), this.#key('homes', this.#me)];
    let cursor = '0';
    do {
      const [next, clients] = await this.#engine.client.sscan(
        this.#key('homes', dead),
        cursor,
        'COUNT',
        CLAIMS_STEP,
      );
      const args = clients.flatMap((client) => [client, hasSession(client) ? '1' : '0']);
      await this.#engine.run(INHERIT, keys, [this.#me, dead, ...args]);
      cursor = next;
    } while (cursor !== '0');
  }

  #runSoon(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const pauseMs = this.#answeredAtMs + CLAIMS_PAUSE_MS - performance.now();
    if (pauseMs > 0) setTimeout(() => void this.#run(), pauseMs);
    else setImmediate(() => void this.#run());
  }

  #releaseLater(): void {
    if (this.#isRunning || this.#isReleasing || this.#changes.length === 0) return;
    this.#isReleasing = true;
    setTimeout(() => {
      this.#isReleasing = false;
      if (this.#changes.length > 0) this.#runSoon();
    }, CLAIMS_PAUSE_MS);
  }

  async #run(): Promise<void> {
    await this.#make(this.#changes.splice(0, CLAIMS_STEP));
    this.#answeredAtMs = performance.now();
    this.#isRunning = false;
    if (this.#claiming > 0) this.#runSoon();
    else this.#releaseLater();
  }

  async #make(changes: readonly Change[]): Promise<void> {
    const keys = ['members', 'claims', 'reapers'].map((name) => this.#key(name));
    keys.push(this.#key('homes', this.#me));
    const args = changes.flatMap(({ clientId, answer }) => [answer === undefined ? '0' : '1', clientId]);
    const waiting = changes.flatMap(({ answer }) => answer ?? []);
    this.#claiming -= waiting.length;
    try {
      const homes = (await this.#engine.run(CHANGE, keys, [this.#me, ...args])) as readonly unknown[];
      for (const [index, { resolve }] of waiting.entries()) resolve(this.#homeOf(homes[index]));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
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
