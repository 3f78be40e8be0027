import type { Script } from './engine.ts';

/**
 * For each tenant: `KEYS[1]` topic → message, `KEYS[2]` the topics in their order, `KEYS[3]` topic → bytes, holder and
 * id, `KEYS[4]` counts of the tenant, of each holder, and of tenants of holders that are not the store's. `ARGV[1]` is the
 * tenant. Ids are compared by their bytes: Lua's own order is that of a
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
local function otherTenant(holder)
  local tenant = string.match(holder, '^%w+%z([^%z]*)%z')
  if tenant ~= ARGV[1] then return tenant end
end
local function changeOf(key, messages, bytes)
  local left = redis.call('HINCRBY', KEYS[4], 'n:' .. key, messages)
  redis.call('HINCRBY', KEYS[4], 'b:' .. key, bytes)
  if left == 0 then redis.call('HDEL', KEYS[4], 'n:' .. key, 'b:' .. key) end
end
local function change(holder, messages, bytes)
  redis.call('HINCRBY', KEYS[4], 'n', messages)
  redis.call('HINCRBY', KEYS[4], 'b', bytes)
  if holder == '' then return end
  changeOf(holder, messages, bytes)
  local tenant = otherTenant(holder)
  if tenant then changeOf(tenant, messages, bytes) end
end
`;

/**
 * ARGV: tenant, topic, id, message, bytes, holder or '', the most messages and bytes of the tenant, those of the holder,
 * and those of the holder's tenant. Returns whether it is retained (or a later one is), and how many there are.
 */
export const PUT: Script = {
  name: 'apusRetain',
  lua: `${COMMON}
local topic, id, bytes, holder = ARGV[2], ARGV[3], tonumber(ARGV[5]), ARGV[6]
local messagesMax, bytesMax = tonumber(ARGV[7]), tonumber(ARGV[8])
local meta = redis.call('HGET', KEYS[3], topic)
local before, owner, last = 0, false, false
if meta then
  before, owner, last = split(meta)
  if later(last, id) then return {1, count('n')} end
end
local growth = bytes - before
if not meta and count('n') >= messagesMax then return {0, count('n')} end
if growth > 0 and count('b') + growth > bytesMax then return {0, count('n')} end
local function hasShare(key, isOwn, most, mostBytes)
  if not isOwn and count('n:' .. key) >= most then return false end
  local more = isOwn and growth or bytes
  return more <= 0 or count('b:' .. key) + more <= mostBytes
end
if holder ~= '' then
  if not hasShare(holder, owner == holder, tonumber(ARGV[9]), tonumber(ARGV[10])) then return {0, count('n')} end
  local tenant = otherTenant(holder)
  local most = math.min(tonumber(ARGV[11]), messagesMax - count('n'))
  local mostBytes = math.min(tonumber(ARGV[12]), bytesMax - count('b'))
  local isOwn = owner and otherTenant(owner) == tenant
  if tenant and not hasShare(tenant, isOwn, most, mostBytes) then return {0, count('n')} end
end
if meta then change(owner, -1, -before) end
change(holder, 1, bytes)
redis.call('HSET', KEYS[1], topic, ARGV[4])
redis.call('ZADD', KEYS[2], 0, topic)
redis.call('HSET', KEYS[3], topic, bytes .. ' ' .. #holder .. ' ' .. holder .. id)
return {1, count('n')}`,
};

/** ARGV: tenant, topic, and the id up to which its message is removed. Returns how many there are. */
export const DELETE: Script = {
  name: 'apusUnretain',
  lua: `${COMMON}
local meta = redis.call('HGET', KEYS[3], ARGV[2])
if meta then
  local bytes, holder, id = split(meta)
  if not later(id, ARGV[3]) then
    change(holder, -1, -bytes)
    redis.call('HDEL', KEYS[1], ARGV[2])
    redis.call('ZREM', KEYS[2], ARGV[2])
    redis.call('HDEL', KEYS[3], ARGV[2])
  end
end
return count('n')`,
};

/** ARGV: bytes at most, and topics. The messages of the first of them that fit: a message has up to some megabytes. */
export const READ: Script = {
  name: 'apusRetained',
  lua: `local bytes = tonumber(ARGV[1])
local found = {}
for i = 2, #ARGV do
  bytes = bytes - redis.call('HSTRLEN', KEYS[1], ARGV[i])
  if bytes < 0 and i > 2 then break end
  found[i - 1] = redis.call('HGET', KEYS[1], ARGV[i])
end
return found`,
};
