import type { Script } from '../engine.ts';

/**
 * `KEYS[1]` members, `KEYS[2]` the life of the engine, and of one stream of a tenant: `KEYS[3]` topic → when it was
 * last used, `KEYS[4]` the topics in the order of their names, `KEYS[5]` since when nothing of an unknown topic is
 * missing.
 *
 * ARGV: process, time in ms, what the keys of the tenant's topics begin with, and for how many ms a topic is kept that
 * is not used.
 *
 * Of each topic: `root` (epoch; `last`, the number of its newest message; `start`, the number behind which the epoch
 * began), `log` (a stream of number → message), `meta` (a stream of number → time, bytes, bytes up to it, key), `ids`
 * (id of a message → number), and of a snapshot `values`, `about` (time and expiry) and `order` (key → number).
 */
const COMMON = `local now, base, keep = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local PARTS = {'root', 'log', 'meta', 'ids', 'values', 'about', 'order'}
local function key(part, topic) return base .. part .. ':' .. topic end
local function text(number) return string.format('%.0f', number) end
local function isMember() return redis.call('ZSCORE', KEYS[1], ARGV[1]) end

-- The generation of what the engine holds: another one when it was started again and may have lost something.
local function generation()
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
  local known = redis.call('HMGET', KEYS[2], 'run', 'generation', 'keeps')
  if known[1] == run then return known[2] end
  local number = known[2] or '1'
  if known[1] then
    local former = string.match(redis.call('INFO', 'replication'), 'master_replid2:(%w+)')
    local wasReplica = former and string.find(former, '[^0]')
    if known[3] ~= '1' or wasReplica then number = text(tonumber(number) + 1) end
  end
  redis.call('HSET', KEYS[2], 'run', run, 'generation', number, 'keeps', '0')
  return number
end

local function removeValue(topic, name)
  redis.call('HDEL', key('values', topic), name)
  redis.call('HDEL', key('about', topic), name)
  redis.call('ZREM', key('order', topic), name)
end

local function dropExpired(topic)
  for _ = 1, 100 do
    local name = redis.call('ZRANGE', key('order', topic), 0, 0)[1]
    if not name then return end
    local expires = string.match(redis.call('HGET', key('about', topic), name), '^%d+ (%d+)')
    if expires == '0' or tonumber(expires) > now then return end
    removeValue(topic, name)
  end
end

local function isOver(topic, used)
  if used + keep >= now then return false end
  dropExpired(topic)
  return redis.call('ZCARD', key('order', topic)) == 0
end

local function forget(topic)
  local used = tonumber(redis.call('ZSCORE', KEYS[3], topic) or '0')
  local since = tonumber(redis.call('HGET', KEYS[5], 'since') or '0')
  if used + 1 > since then redis.call('HSET', KEYS[5], 'since', text(used + 1)) end
  for _, part in ipairs(PARTS) do redis.call('DEL', key(part, topic)) end
  redis.call('ZREM', KEYS[3], topic)
  redis.call('ZREM', KEYS[4], topic)
end

-- Topics that are over leave at the pace at which messages come.
local function sweep()
  local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', '(' .. text(now - keep), 'LIMIT', 0, 2)
  for _, topic in ipairs(old) do
    if isOver(topic, 0) then forget(topic) else redis.call('ZADD', KEYS[3], text(now), topic) end
  end
end

local function rotate(topic, epoch, generation, last)
  redis.call('HSET', key('root', topic), 'epoch', epoch, 'start', last, 'generation', generation)
end

-- Epoch, last number, start of the epoch, since when it is complete, time and bytes of the newest; nil: there is no topic.
local function find(topic, candidate)
  local root = redis.call('HMGET', key('root', topic), 'epoch', 'last', 'start', 'since', 'ts', 'sum', 'generation')
  if not root[1] then return nil end
  local used = redis.call('ZSCORE', KEYS[3], topic)
  if not used or isOver(topic, tonumber(used)) then
    forget(topic)
    return nil
  end
  local current = generation()
  if root[7] ~= current then
    rotate(topic, candidate, current, root[2])
    redis.call('HSET', key('root', topic), 'since', text(now))
    root[1], root[3], root[4] = candidate, root[2], text(now)
  end
  return root
end

-- nil: the stream has as many topics as it may.
local function open(topic, candidate, topicsMax, isForced)
  local found = find(topic, candidate)
  if found then return found end
  if not isForced and redis.call('ZCARD', KEYS[3]) >= topicsMax then
    sweep()
    if redis.call('ZCARD', KEYS[3]) >= topicsMax then return nil end
  end
  local current = generation()
  local known = redis.call('HMGET', KEYS[5], 'since', 'generation')
  if known[2] ~= current then
    known[1] = text(now)
    redis.call('HSET', KEYS[5], 'since', known[1], 'generation', current)
  end
  for _, part in ipairs(PARTS) do redis.call('DEL', key(part, topic)) end
  redis.call('HSET', key('root', topic), 'epoch', candidate, 'last', '0', 'start', '0', 'since', known[1],
    'ts', '0', 'sum', '0', 'generation', current)
  redis.call('ZADD', KEYS[3], text(now), topic)
  redis.call('ZADD', KEYS[4], 0, topic)
  return {candidate, '0', '0', known[1], '0', '0', current}
end

local function about(entry)
  local fields = entry[2]
  return {number = tonumber(string.match(entry[1], '^%d+')), ts = tonumber(fields[2]), bytes = tonumber(fields[4]),
    sum = tonumber(fields[6]), key = fields[8]}
end
local function at(topic, number)
  local found = redis.call('XRANGE', key('meta', topic), number .. '-0', number .. '-0')[1]
  return found and about(found)
end
local function oldest(topic)
  local found = redis.call('XRANGE', key('meta', topic), '-', '+', 'COUNT', 1)[1]
  return found and about(found)
end

-- The first number from low to high for which isIt holds, as it then does for all others; high + 1 where there is none.
local function firstOf(topic, low, high, isIt)
  high = high + 1
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isIt(at(topic, text(middle))) then high = middle else low = middle + 1 end
  end
  return low
end

local function firstKept(topic, root, first, messagesMax, bytesMax, sinceMs)
  local last, sum = tonumber(root[2]), tonumber(root[6])
  if not first then return last + 1 end
  local from = math.max(first.number, last - messagesMax + 1)
  if first.ts < sinceMs then
    from = firstOf(topic, from, last, function(each) return each.ts >= sinceMs end)
  end
  if sum - first.sum + first.bytes > bytesMax then
    from = firstOf(topic, from, last, function(each) return sum - each.sum + each.bytes <= bytesMax end)
  end
  return from
end
`;

/**
 * ARGV from 5: topic, epoch to open it with, '1' where it is appended in any case, topics at most, id, message, its
 * bytes, '1' and the key or '0', messages and bytes and milliseconds that are handed out, '1' for a snapshot, '1' for
 * an empty payload, when the message expires, keys of a snapshot at most, milliseconds more for readers that have
 * begun.
 *
 * Returns 0 when the process has been given up, 1 when the stream is full. A second call with the same message returns
 * the same: the client library repeats a command whose answer it has not got.
 */
export const APPEND: Script = {
  name: 'apusStreamAppend',
  lua: `${COMMON}
if not isMember() then return 0 end
local topic, id, bytes = ARGV[5], ARGV[9], tonumber(ARGV[11])
local name = ARGV[12] == '1' and ARGV[13] or ''
local messagesMax, bytesMax, keepMs = tonumber(ARGV[14]), tonumber(ARGV[15]), tonumber(ARGV[16])
local root = open(topic, ARGV[6], tonumber(ARGV[8]), ARGV[7] == '1')
if not root then return 1 end
local again = redis.call('ZSCORE', key('ids', topic), id)
if again then
  local entry = at(topic, text(again))
  return {root[1], text(again), text(entry and entry.ts or now)}
end
local number, ts, sum = tonumber(root[2]) + 1, math.max(now, tonumber(root[5])), tonumber(root[6]) + bytes
local place = text(number) .. '-0'
redis.call('XADD', key('log', topic), place, 'm', ARGV[10])
if ARGV[12] == '1' then
  redis.call('XADD', key('meta', topic), place, 't', text(ts), 'b', ARGV[11], 's', text(sum), 'k', name)
else
  redis.call('XADD', key('meta', topic), place, 't', text(ts), 'b', ARGV[11], 's', text(sum))
end
redis.call('ZADD', key('ids', topic), text(number), id)
redis.call('HSET', key('root', topic), 'last', text(number), 'ts', text(ts), 'sum', text(sum))
redis.call('ZADD', KEYS[3], 'GT', text(ts), topic)
root[2], root[6] = text(number), text(sum)
if ARGV[17] == '1' then
  if ARGV[18] == '1' then removeValue(topic, name)
  else
    redis.call('HSET', key('values', topic), name, ARGV[10])
    redis.call('HSET', key('about', topic), name, text(ts) .. ' ' .. ARGV[19] .. ' ' .. ARGV[12])
    redis.call('ZADD', key('order', topic), text(number), name)
  end
  dropExpired(topic)
  if redis.call('ZCARD', key('order', topic)) > tonumber(ARGV[20]) then
    removeValue(topic, redis.call('ZRANGE', key('order', topic), 0, 0)[1])
  end
end
local first = oldest(topic)
local isTooOld = first.ts < now - keepMs - tonumber(ARGV[21])
if isTooOld or number - first.number + 1 > 2 * messagesMax or sum - first.sum + first.bytes > 2 * bytesMax then
  local from = firstKept(topic, root, first, messagesMax, bytesMax, now - keepMs)
  if from > first.number then
    local since = at(topic, text(from - 1)).ts + 1
    if since > tonumber(root[4]) then redis.call('HSET', key('root', topic), 'since', text(since)) end
    redis.call('XTRIM', key('log', topic), 'MINID', text(from) .. '-0')
    redis.call('XTRIM', key('meta', topic), 'MINID', text(from) .. '-0')
    redis.call('ZREMRANGEBYSCORE', key('ids', topic), '-inf', '(' .. text(from))
  end
end
sweep()
return {root[1], text(number), text(ts)}`,
};

/** ARGV from 5: topic, epoch to open it with, topics at most. Answers 0 and 1 as APPEND does. */
export const TAIL: Script = {
  name: 'apusStreamTail',
  lua: `${COMMON}
if not isMember() then return 0 end
local root = open(ARGV[5], ARGV[6], tonumber(ARGV[7]), false)
if not root then return 1 end
redis.call('ZADD', KEYS[3], 'GT', text(now), ARGV[5])
return {root[1], root[2], root[3]}`,
};

/**
 * ARGV from 5: epoch for those that need another one, topics. Answers the topic, epoch, last and start of each that is
 * there.
 */
export const TAILS: Script = {
  name: 'apusStreamTails',
  lua: `${COMMON}
local answer = {}
for i = 6, #ARGV do
  local root = find(ARGV[i], ARGV[5])
  if root then
    for _, each in ipairs({ARGV[i], root[1], root[2], root[3]}) do answer[#answer + 1] = each end
  end
end
return answer`,
};

/** ARGV from 5: topic, epoch, messages and bytes and milliseconds that are handed out, a time or ''. */
export const SINCE: Script = {
  name: 'apusStreamSince',
  lua: `${COMMON}
local topic = ARGV[5]
local root = find(topic, ARGV[6])
if not root then return 0 end
local first = oldest(topic)
local from = firstKept(topic, root, first, tonumber(ARGV[7]), tonumber(ARGV[8]), now - tonumber(ARGV[9]))
if ARGV[10] == '' then return {text(from)} end
local ts, last = tonumber(ARGV[10]), tonumber(root[2])
local found = from
if from <= last then found = firstOf(topic, from, last, function(each) return each.ts >= ts end) end
local complete = tonumber(root[4])
local dropped = first and from > first.number and at(topic, text(from - 1))
if dropped then complete = math.max(complete, dropped.ts + 1) end
return {text(found), complete <= ts and 1 or 0}`,
};

/** ARGV from 5: topic, epoch, number behind which it begins, messages and bytes at most. 0: lost. */
export const READ: Script = {
  name: 'apusStreamRead',
  lua: `${COMMON}
local topic, after, bytesMax = ARGV[5], tonumber(ARGV[7]), tonumber(ARGV[9])
local root = redis.call('HMGET', key('root', topic), 'epoch', 'last', 'generation')
if root[1] ~= ARGV[6] or root[3] ~= generation() then return 0 end
local last, first = tonumber(root[2]), oldest(topic)
if after > last or after + 1 < (first and first.number or last + 1) then return 0 end
local metas = redis.call('XRANGE', key('meta', topic), text(after + 1) .. '-0', '+', 'COUNT', ARGV[8])
local count, bytes = 0, 0
for _, entry in ipairs(metas) do
  bytes = bytes + about(entry).bytes
  if count > 0 and bytes > bytesMax then break end
  count = count + 1
end
if count == 0 then return {} end
local bodies = redis.call('XRANGE', key('log', topic), text(after + 1) .. '-0', '+', 'COUNT', count)
local answer = {}
for i = 1, count do
  local meta = about(metas[i])
  answer[i] = {text(meta.number), text(meta.ts), bodies[i][2][2], meta.key}
end
return answer`,
};

/** ARGV from 5: topic, id. */
export const FIND: Script = {
  name: 'apusStreamFind',
  lua: `${COMMON}
local topic = ARGV[5]
local root = redis.call('HMGET', key('root', topic), 'epoch', 'generation')
local number = redis.call('ZSCORE', key('ids', topic), ARGV[6])
if not root[1] or root[2] ~= generation() or not number then return 0 end
local entry = at(topic, text(number))
local body = redis.call('XRANGE', key('log', topic), text(number) .. '-0', text(number) .. '-0')[1]
if not entry or not body then return 0 end
return {root[1], text(number), text(entry.ts), body[2][2], entry.key}`,
};

/**
 * ARGV from 5: topic, number behind which it begins, values at most. Their number, time, message, and key where there
 * is one.
 */
export const VALUES: Script = {
  name: 'apusStreamValues',
  lua: `${COMMON}
local topic = ARGV[5]
local found = redis.call('ZRANGEBYSCORE', key('order', topic), '(' .. ARGV[6], '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[7])
local answer = {}
for i = 1, #found, 2 do
  local ts, _, hasKey = string.match(redis.call('HGET', key('about', topic), found[i]), '^(%d+) (%d+) (%d)')
  local value = {text(found[i + 1]), ts, redis.call('HGET', key('values', topic), found[i])}
  if hasKey == '1' then value[4] = found[i] end
  answer[#answer + 1] = value
end
return answer`,
};

/**
 * ARGV from 5: topic, the new epoch. 0 and nothing changed where there is no topic, or the process has been given up.
 */
export const ROTATE: Script = {
  name: 'apusStreamRotate',
  lua: `${COMMON}
local last = redis.call('HGET', key('root', ARGV[5]), 'last')
if not last or not isMember() then return 0 end
rotate(ARGV[5], ARGV[6], generation(), last)
return 1`,
};

/** ARGV from 5: topics. Answers how many messages and bytes they hold. */
export const FIGURES: Script = {
  name: 'apusStreamFigures',
  lua: `${COMMON}
local messages, bytes = 0, 0
for i = 5, #ARGV do
  local first = oldest(ARGV[i])
  if first then
    local root = redis.call('HMGET', key('root', ARGV[i]), 'last', 'sum')
    messages = messages + tonumber(root[1]) - first.number + 1
    bytes = bytes + tonumber(root[2]) - first.sum + first.bytes
  end
end
return {text(messages), text(bytes)}`,
};

/** ARGV from 5: '1' where the engine, started again, holds all that it has answered. */
export const LIFE: Script = {
  name: 'apusStreamLife',
  lua: `${COMMON}
generation()
redis.call('HSET', KEYS[2], 'keeps', ARGV[5])
return 1`,
};
