import { STREAM_TOPIC_BYTES, STREAM_VALUE_BYTES } from '../limits.ts';

/**
 * `KEYS[1]` members, `KEYS[2]` the life of the engine, and of one stream of a tenant: `KEYS[3]` topic → when it was
 * last used, `KEYS[4]` the topics in the order of their names, `KEYS[5]` since when nothing of an unknown topic is
 * missing, and how many topics each holder has opened. `KEYS[6]`: bytes of all streams of the tenant.
 *
 * ARGV: process, time in ms, what the keys of the tenant's topics begin with, and for how many ms a topic is kept that
 * is not used.
 *
 * Of each topic: `root` (epoch; `last`, the number of its newest message; `start`, the number behind which the epoch
 * began; `holder`; `held`, its part of `KEYS[6]`), `log` (a stream of number → message), `meta` (a stream of number →
 * time, bytes, bytes up to it, key), `ids` (id of a message → number), `origins` (a source of messages → the number of its
 * last one there, and in the log), and of a snapshot `values`, `about` (time and expiry) and `order` (key → number).
 */
export const COMMON = `local now, base, keep = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local PARTS = {'root', 'log', 'meta', 'ids', 'origins', 'values', 'about', 'order'}
local function key(part, topic) return base .. part .. ':' .. topic end
local function text(number) return string.format('%.0f', number) end
local function isMember() return redis.call('ZSCORE', KEYS[1], ARGV[1]) end

-- The generation of what the engine holds: another one when it was started again and may have lost something.
local generationNow
local function findGeneration()
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
local function generation()
  generationNow = generationNow or findGeneration()
  return generationNow
end

local function countHeld(bytes)
  if redis.call('INCRBY', KEYS[6], text(bytes)) <= 0 then redis.call('DEL', KEYS[6]) end
end

-- So many more bytes of a topic, or fewer.
local function hold(topic, bytes)
  if bytes == 0 then return end
  redis.call('HINCRBY', key('root', topic), 'held', text(bytes))
  countHeld(bytes)
end

local function valueBytes(name, bytes) return bytes == 0 and 0 or bytes + 3 * #name + ${STREAM_VALUE_BYTES} end
local function heldValueBytes(topic, name)
  return valueBytes(name, redis.call('HSTRLEN', key('values', topic), name))
end

local function removeValue(topic, name)
  hold(topic, -heldValueBytes(topic, name))
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

local function countOpened(holder, by)
  if holder == '' then return end
  if redis.call('HINCRBY', KEYS[5], 'n:' .. holder, by) == 0 then redis.call('HDEL', KEYS[5], 'n:' .. holder) end
end

local function forget(topic)
  local root = redis.call('HMGET', key('root', topic), 'holder', 'held')
  -- The first write: an engine without memory would refuse the others.
  for _, part in ipairs(PARTS) do redis.call('DEL', key(part, topic)) end
  countOpened(root[1] or '', -1)
  if root[2] then countHeld(-tonumber(root[2])) end
  local used = tonumber(redis.call('ZSCORE', KEYS[3], topic) or '0')
  local since = tonumber(redis.call('HGET', KEYS[5], 'since') or '0')
  if used + 1 > since then redis.call('HSET', KEYS[5], 'since', text(used + 1)) end
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

-- As \`mayOpen\` of the broker.
local function mayOpen(topicsMax, holder)
  local own = holder ~= '' and redis.call('HGET', KEYS[5], 'n:' .. holder) or '0'
  return tonumber(own) < topicsMax - redis.call('ZCARD', KEYS[3])
end

local function isFull(bytesMax) return tonumber(redis.call('GET', KEYS[6]) or '0') >= bytesMax end

-- Whether the streams of the tenant take no more, also when topics that are over have left [SEC-GROWTH-8].
local function staysFull(bytesMax)
  if not isFull(bytesMax) then return false end
  sweep()
  return isFull(bytesMax)
end

-- A new topic. nil: the stream has as many as it may, in all or of this holder.
local function open(topic, candidate, topicsMax, isForced, holder)
  if not isForced and not mayOpen(topicsMax, holder) then
    sweep()
    if not mayOpen(topicsMax, holder) then return nil end
  end
  local current = generation()
  local known = redis.call('HMGET', KEYS[5], 'since', 'generation')
  if known[2] ~= current then
    known[1] = text(now)
    redis.call('HSET', KEYS[5], 'since', known[1], 'generation', current)
  end
  for _, part in ipairs(PARTS) do redis.call('DEL', key(part, topic)) end
  redis.call('HSET', key('root', topic), 'epoch', candidate, 'last', '0', 'start', '0', 'since', known[1],
    'ts', '0', 'sum', '0', 'generation', current, 'holder', holder)
  hold(topic, ${STREAM_TOPIC_BYTES} + 9 * (#base + #topic) + 2 * #holder)
  countOpened(holder, 1)
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
