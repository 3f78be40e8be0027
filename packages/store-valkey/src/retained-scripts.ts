import type { Script } from './engine.ts';

/**
 * For each tenant: `KEYS[1]` topic → message, `KEYS[2]` the topics in their order, `KEYS[3]` topic → bytes, holder and
 * id, `KEYS[4]` counts of the tenant and of each holder. Ids are compared by their bytes: Lua's own order is that of a
 * locale.
 */
const COMMON = `local function later(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = string.byte(a, i), string.byte(b, i)
    if x ~= y then return x > y end
  end
  return #a > #b
end
local function split(meta)
  local bytes, length, rest = string.match(meta, '^(%d+) (%d+) (.*)$')
  length = tonumber(length)
  return tonumber(bytes), string.sub(rest, 1, length), string.sub(rest, length + 1)
end
local function count(field) return tonumber(redis.call('HGET', KEYS[4], field) or '0') end
local function change(holder, messages, bytes)
  redis.call('HINCRBY', KEYS[4], 'n', messages)
  redis.call('HINCRBY', KEYS[4], 'b', bytes)
  if holder ~= '' then
    local left = redis.call('HINCRBY', KEYS[4], 'n:' .. holder, messages)
    redis.call('HINCRBY', KEYS[4], 'b:' .. holder, bytes)
    if left == 0 then redis.call('HDEL', KEYS[4], 'n:' .. holder, 'b:' .. holder) end
  end
end
`;

/**
 * ARGV: topic, id, message, bytes, holder or '', the most messages and bytes of the tenant, and those of the holder.
 * Returns whether it is retained (or a later one is), and how many there are.
 */
export const PUT: Script = {
  name: 'apusRetain',
  lua: `${COMMON}
local topic, id, bytes, holder = ARGV[1], ARGV[2], tonumber(ARGV[4]), ARGV[5]
local meta = redis.call('HGET', KEYS[3], topic)
local before, owner, last = 0, false, false
if meta then
  before, owner, last = split(meta)
  if later(last, id) then return {1, count('n')} end
end
local growth = bytes - before
if not meta and count('n') >= tonumber(ARGV[6]) then return {0, count('n')} end
if growth > 0 and count('b') + growth > tonumber(ARGV[7]) then return {0, count('n')} end
if holder ~= '' then
  local isOwn = owner == holder
  if not isOwn and count('n:' .. holder) >= tonumber(ARGV[8]) then return {0, count('n')} end
  local more = isOwn and growth or bytes
  if more > 0 and count('b:' .. holder) + more > tonumber(ARGV[9]) then return {0, count('n')} end
end
if meta then change(owner, -1, -before) end
change(holder, 1, bytes)
redis.call('HSET', KEYS[1], topic, ARGV[3])
redis.call('ZADD', KEYS[2], 0, topic)
redis.call('HSET', KEYS[3], topic, bytes .. ' ' .. #holder .. ' ' .. holder .. id)
return {1, count('n')}`,
};

/** ARGV: topic, and the id up to which its message is removed. Returns how many there are. */
export const DELETE: Script = {
  name: 'apusUnretain',
  lua: `${COMMON}
local meta = redis.call('HGET', KEYS[3], ARGV[1])
if meta then
  local bytes, holder, id = split(meta)
  if not later(id, ARGV[2]) then
    change(holder, -1, -bytes)
    redis.call('HDEL', KEYS[1], ARGV[1])
    redis.call('ZREM', KEYS[2], ARGV[1])
    redis.call('HDEL', KEYS[3], ARGV[1])
  end
end
return count('n')`,
};
