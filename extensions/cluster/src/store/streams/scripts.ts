import { ORIGINS_MAX } from '@apus/broker';
import type { Script } from '../engine.ts';
import { STREAM_ORIGIN_BYTES } from '../limits.ts';
import { COMMON } from './common.ts';

/** Arguments of each message of `APPEND`, behind those of all. */
export const APPEND_ARGUMENTS = 14;

/**
 * Appends messages of one stream in their order. ARGV from 5: topics at most, messages and bytes and milliseconds that
 * are handed out, '1' for a snapshot, keys of a snapshot at most, milliseconds more for readers that have begun, bytes
 * of all streams of the tenant at most.
 *
 * Then of each message: topic, epoch to open it with, '1' where it is appended in any case, id, message, its bytes, '1'
 * and the key or '0', '1' for an empty payload, when it expires, the holder of a new topic or '', the source of the
 * message or '', its number there, the number there of the one that has to be in the log before it or ''.
 *
 * Returns 0 when the process has been given up. Otherwise for each message 1 when the stream or the tenant is full, 2
 * when a later message of its source is there, or it was and is not kept, 3 when the one before it is not there. A second
 * call with the same message returns the same: the client library repeats a command whose answer it has not got.
 * Otherwise epoch, number and time, and of a message with the same origin that was appended before also the message and
 * its key.
 */
export const APPEND: Script = {
  name: 'apusStreamAppend',
  lua: `${COMMON}
if not isMember() then return 0 end
local topicsMax, messagesMax, bytesMax, keepMs = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local isSnapshot, valuesMax, slackMs, tenantBytesMax = ARGV[9] == '1', tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])

local function trim(topic, root)
  local first = oldest(topic)
  if not first then return end
  local last, sum = tonumber(root[2]), tonumber(root[6])
  local isTooOld = first.ts < now - keepMs - slackMs
  local isTooLong = last - first.number + 1 > 2 * messagesMax or sum - first.sum + first.bytes > 2 * bytesMax
  if not isTooOld and not isTooLong then return end
  local from = firstKept(topic, root, first, messagesMax, bytesMax, now - keepMs)
  if from == first.number then return end
  local dropped = at(topic, text(from - 1))
  if dropped.ts + 1 > tonumber(root[4]) then
    redis.call('HSET', key('root', topic), 'since', text(dropped.ts + 1))
  end
  redis.call('XTRIM', key('log', topic), 'MINID', text(from) .. '-0')
  redis.call('XTRIM', key('meta', topic), 'MINID', text(from) .. '-0')
  redis.call('ZREMRANGEBYSCORE', key('ids', topic), '-inf', '(' .. text(from))
  hold(topic, first.sum - first.bytes - dropped.sum)
end

-- Returns how many bytes more the topic holds.
local function noteOrigin(topic, source, sourceNumber, number, isKnown)
  local origins = key('origins', topic)
  local held = isKnown and 0 or #source + ${STREAM_ORIGIN_BYTES}
  redis.call('HSET', origins, source, text(sourceNumber) .. ' ' .. text(number))
  if redis.call('HLEN', origins) <= ${ORIGINS_MAX} then return held end
  for _, other in ipairs(redis.call('HKEYS', origins)) do
    if other ~= source then
      redis.call('HDEL', origins, other)
      return held - #other - ${STREAM_ORIGIN_BYTES}
    end
  end
  return held
end

local function append(topic, candidate, isForced, id, body, bytes, hasKey, name, isEmpty, expires, holder, source,
    sourceNumber, behind)
  local root = find(topic, candidate)
  local again = root and redis.call('ZSCORE', key('ids', topic), id)
  if again then
    local entry = at(topic, text(again))
    return {root[1], text(again), text(entry and entry.ts or now)}
  end
  local known = root and source ~= '' and redis.call('HGET', key('origins', topic), source)
  local lastNumber, lastPlace
  if known then
    lastNumber, lastPlace = string.match(known, '^(%d+) (%d+)$')
    lastNumber = tonumber(lastNumber)
    if sourceNumber <= lastNumber then
      local found = redis.call('XRANGE', key('log', topic), lastPlace .. '-0', lastPlace .. '-0')[1]
      if sourceNumber < lastNumber or not found then return 2 end
      local entry = at(topic, lastPlace)
      return {root[1], lastPlace, text(entry.ts), found[2][2], entry.key}
    end
  end
  if behind and not (lastNumber and lastNumber >= behind) then return 3 end
  if not isForced and isFull(tenantBytesMax) then
    if root then trim(topic, root) end
    if staysFull(tenantBytesMax) then return 1 end
  end
  root = root or open(topic, candidate, topicsMax, isForced, holder)
  if not root then return 1 end
  local number, ts, sum = tonumber(root[2]) + 1, math.max(now, tonumber(root[5])), tonumber(root[6]) + bytes
  local place = text(number) .. '-0'
  redis.call('XADD', key('log', topic), place, 'm', body)
  if hasKey then
    redis.call('XADD', key('meta', topic), place, 't', text(ts), 'b', text(bytes), 's', text(sum), 'k', name)
  else
    redis.call('XADD', key('meta', topic), place, 't', text(ts), 'b', text(bytes), 's', text(sum))
  end
  redis.call('ZADD', key('ids', topic), text(number), id)
  redis.call('HSET', key('root', topic), 'last', text(number), 'ts', text(ts), 'sum', text(sum))
  redis.call('ZADD', KEYS[3], 'GT', text(ts), topic)
  local held = bytes
  if source ~= '' then held = held + noteOrigin(topic, source, sourceNumber, number, known) end
  root[2], root[6] = text(number), text(sum)
  if isSnapshot then
    if isEmpty then removeValue(topic, name)
    else
      held = held - heldValueBytes(topic, name) + valueBytes(name, #body)
      redis.call('HSET', key('values', topic), name, body)
      redis.call('HSET', key('about', topic), name, text(ts) .. ' ' .. expires .. ' ' .. (hasKey and '1' or '0'))
      redis.call('ZADD', key('order', topic), text(number), name)
    end
    dropExpired(topic)
    if redis.call('ZCARD', key('order', topic)) > valuesMax then
      removeValue(topic, redis.call('ZRANGE', key('order', topic), 0, 0)[1])
    end
  end
  hold(topic, held)
  trim(topic, root)
  sweep()
  return {root[1], text(number), text(ts)}
end

local answers = {}
for i = 13, #ARGV, ${APPEND_ARGUMENTS} do
  local hasKey = ARGV[i + 6] == '1'
  answers[#answers + 1] = append(ARGV[i], ARGV[i + 1], ARGV[i + 2] == '1', ARGV[i + 3], ARGV[i + 4],
    tonumber(ARGV[i + 5]), hasKey, hasKey and ARGV[i + 7] or '', ARGV[i + 8] == '1', ARGV[i + 9], ARGV[i + 10],
    ARGV[i + 11], tonumber(ARGV[i + 12]), tonumber(ARGV[i + 13]))
end
return answers`,
};

/**
 * ARGV from 5: topic, epoch to open it with, topics at most, the holder of a new topic or '', bytes of all streams of
 * the tenant at most. Answers 0 and 1 as APPEND does.
 */
export const TAIL: Script = {
  name: 'apusStreamTail',
  lua: `${COMMON}
if not isMember() then return 0 end
local root = find(ARGV[5], ARGV[6])
if not root and not staysFull(tonumber(ARGV[9])) then
  root = open(ARGV[5], ARGV[6], tonumber(ARGV[7]), false, ARGV[8])
end
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
 * ARGV from 5: topic, epoch, number behind which it begins, number up to which it goes, values and bytes at most.
 * Whether they are the last ones, and their number, time, message, and key where there is one. 0: lost.
 */
export const VALUES: Script = {
  name: 'apusStreamValues',
  lua: `${COMMON}
local topic = ARGV[5]
local root = redis.call('HMGET', key('root', topic), 'epoch', 'generation')
if not root[1] then return {1, {}} end
if root[1] ~= ARGV[6] or root[2] ~= generation() then return 0 end
local found = redis.call('ZRANGEBYSCORE', key('order', topic), '(' .. ARGV[7], ARGV[8], 'WITHSCORES', 'LIMIT', 0, ARGV[9])
local answer, bytes = {}, 0
for i = 1, #found, 2 do
  local ts, _, hasKey = string.match(redis.call('HGET', key('about', topic), found[i]), '^(%d+) (%d+) (%d)')
  bytes = bytes + redis.call('HSTRLEN', key('values', topic), found[i])
  if i > 1 and bytes > tonumber(ARGV[10]) then return {0, answer} end
  local value = {text(found[i + 1]), ts, redis.call('HGET', key('values', topic), found[i])}
  if hasKey == '1' then value[4] = found[i] end
  answer[#answer + 1] = value
end
return {#found < 2 * ARGV[9] and 1 or 0, answer}`,
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

/** Forgets some topics of the stream that are over. */
export const SWEEP: Script = {
  name: 'apusStreamSweep',
  lua: `${COMMON}
for _ = 1, 5 do sweep() end
return 1`,
};

/** ARGV from 5: '1' where the engine, started again, holds all that it has answered. */
export const LIFE: Script = {
  name: 'apusStreamLife',
  lua: `${COMMON}
generation()
redis.call('HSET', KEYS[2], 'keeps', ARGV[5])
return 1`,
};
