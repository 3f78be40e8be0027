import type { Script } from '../engine.ts';

/**
 * Of one room: `KEYS[1]` members of the cluster, `KEYS[2]` the room (its teller, `told`: members that watchers know,
 * `number`: the number that they know), `KEYS[3]` member → when it has joined, `KEYS[4]` member → digest of its data
 * and its message, `KEYS[5]` members whose watchers have to be told, in the order of their first change, `KEYS[6]`
 * members that are being told → the message before, `KEYS[7]` and `KEYS[8]` what watchers have been told, as retained
 * messages are kept, `KEYS[9]` member → digest of what they have been told, `KEYS[10]` rooms that this process tells,
 * `KEYS[11]` holder → places, `KEYS[12]` places of the sessions of this process, `KEYS[13]` owners of one member.
 *
 * ARGV: process, name of the room in KEYS[10], and what topics of the room begin with.
 */
const COMMON = `local me = ARGV[1]
local DIGEST = 40
local function isMember() return redis.call('ZSCORE', KEYS[1], me) end
local function teller()
  local current = redis.call('HGET', KEYS[2], 'teller')
  if current and redis.call('ZSCORE', KEYS[1], current) then return current end
  redis.call('HSET', KEYS[2], 'teller', me)
  redis.call('SADD', KEYS[10], ARGV[2])
  return me
end
local function note(member) redis.call('ZADD', KEYS[5], 'NX', redis.call('HINCRBY', KEYS[2], 'changes', 1), member) end
local function number(field) return tonumber(redis.call('HGET', KEYS[2], field) or '0') end
`;

/**
 * ARGV from 4: member, owner, its client, holder, the place and its value in KEYS[12], digest, message, time, and the
 * most members, owners, and places of the holder.
 */
export const PUT: Script = {
  name: 'apusPresencePut',
  lua: `${COMMON}
if not isMember() then return 0 end
local member, owner, holder, digest = ARGV[4], ARGV[5], ARGV[7], ARGV[10]
local before = redis.call('HGET', KEYS[4], member)
if not before and redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[13]) then return 'room-full' end
if redis.call('HEXISTS', KEYS[13], owner) == 0 then
  if redis.call('HLEN', KEYS[13]) >= tonumber(ARGV[14]) then return 'owners-full' end
  if tonumber(redis.call('HGET', KEYS[11], holder) or '0') >= tonumber(ARGV[15]) then return 'rooms-full' end
  redis.call('HSET', KEYS[13], owner, ARGV[6])
  redis.call('HINCRBY', KEYS[11], holder, 1)
end
redis.call('HSET', KEYS[12], ARGV[8], ARGV[9])
if before and string.sub(before, 1, DIGEST) == digest then return 'same' end
redis.call('HSET', KEYS[4], member, digest .. ARGV[11])
note(member)
if before then return 'changed' end
redis.call('ZADD', KEYS[3], ARGV[12], member)
return 'joined'`,
};

/** ARGV from 4: member, owner, holder, the place in KEYS[12]. */
export const REMOVE: Script = {
  name: 'apusPresenceRemove',
  lua: `${COMMON}
if not isMember() then return 0 end
local member, holder = ARGV[4], ARGV[6]
redis.call('HDEL', KEYS[12], ARGV[7])
if redis.call('HDEL', KEYS[13], ARGV[5]) == 0 then return 'not-there' end
if redis.call('HINCRBY', KEYS[11], holder, -1) <= 0 then redis.call('HDEL', KEYS[11], holder) end
if redis.call('HLEN', KEYS[13]) > 0 then return 'still-there' end
redis.call('HDEL', KEYS[4], member)
redis.call('ZREM', KEYS[3], member)
note(member)
return 'left'`,
};

/** The living process that sends changes to the watchers of the room: this one, if there is none. */
export const TELLER: Script = {
  name: 'apusPresenceTeller',
  lua: `${COMMON}
if not isMember() then return 0 end
return teller()`,
};

/**
 * ARGV 4: the most members. Returns members to be told, each with its message and the one before ('' for none); from
 * this step on new subscribers are sent these. Members that were taken and not marked as told are taken again: their
 * process has died, or could not tell them. Then the number of members that watchers know from now on, whether it has
 * to be told, and how many changes are left.
 */
export const TAKE: Script = {
  name: 'apusPresenceTake',
  lua: `${COMMON}
if not isMember() or redis.call('HGET', KEYS[2], 'teller') ~= me then return 0 end
local members, most = {}, tonumber(ARGV[4])
local function add(member, before)
  local current = redis.call('HGET', KEYS[4], member)
  members[#members + 1] = {member, current and string.sub(current, DIGEST + 1) or '', before}
end
local telling = redis.call('HGETALL', KEYS[6])
for i = 1, #telling, 2 do
  if #members >= most then break end
  redis.call('ZADD', KEYS[5], 'NX', 0, telling[i])
end
for _, member in ipairs(redis.call('ZRANGE', KEYS[5], 0, most - 1)) do
  local topic = ARGV[3] .. member
  redis.call('ZREM', KEYS[5], member)
  local current, known = redis.call('HGET', KEYS[4], member), redis.call('HGET', KEYS[9], member)
  local digest = current and string.sub(current, 1, DIGEST)
  local again = redis.call('HGET', KEYS[6], member)
  if again or digest ~= known then
    local before = again or redis.call('HGET', KEYS[7], topic) or ''
    add(member, before)
    redis.call('HSET', KEYS[6], member, before)
    if digest ~= known then
      if digest then
        if not known then redis.call('HINCRBY', KEYS[2], 'told', 1) end
        redis.call('HSET', KEYS[7], topic, string.sub(current, DIGEST + 1))
        redis.call('ZADD', KEYS[8], 0, topic)
        redis.call('HSET', KEYS[9], member, digest)
      else
        redis.call('HINCRBY', KEYS[2], 'told', -1)
        redis.call('HDEL', KEYS[7], topic)
        redis.call('ZREM', KEYS[8], topic)
        redis.call('HDEL', KEYS[9], member)
      end
    end
  end
end
local told = number('told')
return {members, told, told ~= number('number') and 1 or 0, redis.call('ZCARD', KEYS[5])}`,
};

/** ARGV from 4: the topic of the number, its message. New subscribers are sent it from now on. */
export const NUMBER: Script = {
  name: 'apusPresenceNumber',
  lua: `${COMMON}
redis.call('HSET', KEYS[7], ARGV[4], ARGV[5])
redis.call('ZADD', KEYS[8], 0, ARGV[4])
return 1`,
};

/** ARGV from 4: the topic of the number, the number that watchers know, members that they have been told. */
export const MARK_TOLD: Script = {
  name: 'apusPresenceMarkTold',
  lua: `${COMMON}
if not isMember() or redis.call('HGET', KEYS[2], 'teller') ~= me then return 0 end
for i = 6, #ARGV do redis.call('HDEL', KEYS[6], ARGV[i]) end
redis.call('HSET', KEYS[2], 'number', ARGV[5])
local isEmpty = number('told') == 0 and redis.call('ZCARD', KEYS[3]) == 0
if isEmpty and redis.call('ZCARD', KEYS[5]) == 0 and redis.call('HLEN', KEYS[6]) == 0 then
  redis.call('DEL', KEYS[2], KEYS[9])
  redis.call('HDEL', KEYS[7], ARGV[4])
  redis.call('ZREM', KEYS[8], ARGV[4])
  redis.call('SREM', KEYS[10], ARGV[2])
end
return 1`,
};

/**
 * Moves the places of a dead process's sessions, and the rooms that it told, to this process. `KEYS`: members, places
 * there, places here, rooms there, rooms here. ARGV: process. Returns the places, and the rooms.
 */
export const INHERIT: Script = {
  name: 'apusPresenceInherit',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
local places, rooms = redis.call('HGETALL', KEYS[2]), redis.call('SMEMBERS', KEYS[4])
for i = 1, #places, 2 do redis.call('HSET', KEYS[3], places[i], places[i + 1]) end
for _, room in ipairs(rooms) do redis.call('SADD', KEYS[5], room) end
redis.call('DEL', KEYS[2], KEYS[4])
return {places, rooms}`,
};

/**
 * Renames the session of a place. `KEYS`: members, places, owners, holder → places. ARGV: process, place before, place
 * now, value, owner before, owner now, holder.
 */
export const RENAME: Script = {
  name: 'apusPresenceRename',
  lua: `if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return 0 end
redis.call('HDEL', KEYS[2], ARGV[2])
redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
local client = redis.call('HGET', KEYS[3], ARGV[5])
if client then
  -- The session is back, and has published to the room.
  if redis.call('HEXISTS', KEYS[3], ARGV[6]) == 1 then redis.call('HINCRBY', KEYS[4], ARGV[7], -1) end
  redis.call('HDEL', KEYS[3], ARGV[5])
  redis.call('HSET', KEYS[3], ARGV[6], client)
end
return 1`,
};
