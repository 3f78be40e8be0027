import { USAGE_FIELDS, type UsageCounts, type UsageRow } from '@apus/broker';
import { DiskError } from '@apus/store-disk';
import type { Engine, Script } from './engine.ts';
import { GIVEN_UP } from './journal.ts';
import { USAGE_DAYS_MAX, USAGE_READS_MAX } from './limits.ts';
import type { Membership } from './membership.ts';

/** Numbers above 2^53 are not exact; no count gets so large. */
const ADD = `local function sum(one, other)
  local added, rest = {}, string.gmatch(other, '[^,]+')
  for number in string.gmatch(one, '[^,]+') do
    added[#added + 1] = string.format('%.0f', tonumber(number) + tonumber(rest() or 0))
  end
  return table.concat(added, ',')
end
local function add(prefix, seconds, days, moves, field, counts)
  local day = string.sub(field, 1, 10)
  local before = redis.call('HGET', prefix .. day, field)
  redis.call('HSET', prefix .. day, field, before and sum(counts, before) or counts)
  redis.call('EXPIRE', prefix .. day, seconds)
  redis.call('SADD', days, day)
  redis.call('INCR', moves)
end
`;

/**
 * ARGV: process, 1 if everything is counted, and fields with their counts. Replaces the present rows of the process.
 */
const SAVE: Script = {
  name: 'apusUsageSave',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local last = redis.call('HGET', KEYS[2], 'last')
redis.call('DEL', KEYS[2])
if last then redis.call('HSET', KEYS[2], 'last', last) end
redis.call('HSET', KEYS[2], 'whole', ARGV[2])
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
return 1`,
};

/**
 * ARGV: process, number of the call, prefix of the keys of days, seconds, and fields with their counts. A repeated
 * call counts once.
 */
const APPEND: Script = {
  name: 'apusUsageAppend',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
${ADD}
if tonumber(redis.call('HGET', KEYS[2], 'last') or 0) >= tonumber(ARGV[2]) then return 1 end
redis.call('HSET', KEYS[2], 'last', ARGV[2])
for i = 5, #ARGV, 2 do
  redis.call('HDEL', KEYS[2], ARGV[i])
  add(ARGV[3], ARGV[4], KEYS[3], KEYS[4], ARGV[i], ARGV[i + 1])
end
return 1`,
};

/**
 * ARGV: process, counts that are uncertain, prefix of the keys of days, seconds. Takes over the rows of a dead
 * process, in KEYS[2].
 */
const INHERIT: Script = {
  name: 'apusUsageInherit',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
${ADD}
local rows = redis.call('HGETALL', KEYS[2])
local isWhole, last = redis.call('HGET', KEYS[2], 'whole') == '1', ''
for i = 1, #rows, 2 do
  local hour = string.sub(rows[i], 1, 13)
  if string.find(rows[i], ' ') and hour > last then last = hour end
end
for i = 1, #rows, 2 do
  if string.find(rows[i], ' ') then
    local isLast = string.sub(rows[i], 1, 13) == last
    local counts = (isLast and not isWhole) and sum(rows[i + 1], ARGV[2]) or rows[i + 1]
    add(ARGV[3], ARGV[4], KEYS[3], KEYS[4], rows[i], counts)
  end
end
redis.call('DEL', KEYS[2])
return 1`,
};

/** ARGV: prefix of the keys of processes. Returns the present rows of all, and how often rows have moved to days. */
const PRESENT: Script = {
  name: 'apusUsagePresent',
  lua: `local answer = {redis.call('GET', KEYS[3]) or '0'}
local function add(process)
  local rows = redis.call('HGETALL', ARGV[1] .. process)
  for i = 1, #rows do answer[#answer + 1] = rows[i] end
end
for _, process in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do add(process) end
for _, process in ipairs(redis.call('HKEYS', KEYS[2])) do add(process) end
return answer`,
};

const DAY_LENGTH = 10;
const DAY_SECONDS = 86_400;

/** An hour of a tenant in the engine: `2026-11-25T18 acme` and its counts, in the order of their fields. */
type StoredRow = readonly [field: string, counts: string];

/**
 * The usage of tenants at all processes: a hash of present rows for each process, and for each day one of rows that
 * are over, where the rows of all processes are added up. A row is in one of them at a time.
 */
export class ValkeyUsage {
  readonly #engine: Engine;
  readonly #membership: Membership;
  #appends = 0;

  constructor(engine: Engine, membership: Membership) {
    this.#engine = engine;
    this.#membership = membership;
  }

  /**
   * Replaces the present rows of this process.
   * @throws {DiskError} if it has been given up
   */
  async save(rows: readonly UsageRow[], isWhole: boolean): Promise<void> {
    await this.#run(SAVE, this.#membership.me, [isWhole ? 1 : 0, ...rows.flatMap(storedRow)]);
  }

  /**
   * Adds rows of past hours to those of all processes.
   * @throws {DiskError} if this one has been given up
   */
  async append(rows: readonly UsageRow[]): Promise<void> {
    this.#appends += 1;
    await this.#run(APPEND, this.#membership.me, [
      this.#appends,
      ...this.#days(),
      ...rows.flatMap(storedRow),
    ]);
  }

  /** Takes over the rows of a dead process. Its last ones may be missing. */
  async inherit(dead: string, uncertainMs: number): Promise<void> {
    const [, uncertain] = storedRow({ tenant: '', hour: '', counts: { ...NOTHING, uncertainMs } });
    await this.#run(INHERIT, dead, [uncertain, ...this.#days()]);
  }

  /** The present rows, and all of some days. */
  async rows(from: string, to: string): Promise<UsageRow[]> {
    const keys = [this.#membership.membersKey, this.#engine.key('reapers'), this.#moves];
    const args = [this.#ofProcess('')];
    for (let read = 1; ; read += 1) {
      const [moves, ...present] = ((await this.#engine.run(PRESENT, keys, args)) as Buffer[]).map(String);
      const rows = pairsOf(present);
      for (const day of await this.#daysBetween(from, to))
        rows.push(...Object.entries(await this.#engine.client.hgetall(this.#ofDay(day))));
      // A row that has moved meanwhile may be missing, or be counted twice.
      if (((await this.#engine.client.get(this.#moves)) ?? '0') === moves || read === USAGE_READS_MAX)
        return rows.filter(([field]) => field.includes(' ')).map(usageRow);
    }
  }

  async #daysBetween(from: string, to: string): Promise<string[]> {
    const days = await this.#engine.client.smembers(this.#engine.key('usage-days'));
    return days.filter((day) => from.slice(0, DAY_LENGTH) <= day && day <= to.slice(0, DAY_LENGTH)).sort();
  }

  async #run(script: Script, process: string, args: readonly (string | number)[]): Promise<void> {
    const { membersKey, me } = this.#membership;
    const keys = [membersKey, this.#ofProcess(process), this.#engine.key('usage-days'), this.#moves];
    if ((await this.#engine.run(script, keys, [me, ...args])) === 0) throw new DiskError(GIVEN_UP);
  }

  #days(): readonly (string | number)[] {
    return [this.#ofDay(''), USAGE_DAYS_MAX * DAY_SECONDS];
  }

  #ofProcess(process: string): string {
    return this.#engine.key('usage-of', process);
  }

  #ofDay(day: string): string {
    return this.#engine.key('usage', day);
  }

  get #moves(): string {
    return this.#engine.key('usage-moves');
  }
}

const NOTHING = Object.fromEntries(USAGE_FIELDS.map((field) => [field, 0])) as unknown as UsageCounts;

function storedRow({ tenant, hour, counts }: UsageRow): StoredRow {
  return [`${hour} ${tenant}`, USAGE_FIELDS.map((field) => counts[field]).join(',')];
}

function usageRow([field, stored]: StoredRow): UsageRow {
  const end = field.indexOf(' ');
  const numbers = stored.split(',').map(Number);
  const counts = Object.fromEntries(USAGE_FIELDS.map((name, index) => [name, numbers[index] ?? 0]));
  return {
    hour: field.slice(0, end),
    tenant: field.slice(end + 1),
    counts: counts as unknown as UsageCounts,
  };
}

function pairsOf(list: readonly string[]): StoredRow[] {
  return list.flatMap((field, index) => (index % 2 === 0 ? [[field, list[index + 1] ?? ''] as const] : []));
}
