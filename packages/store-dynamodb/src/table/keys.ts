import { createHash } from 'node:crypto';
import type { ConnectionId, FilterName, SessionRef } from '@apus/broker';

/** Partition and sort key of an item. */
export interface Key {
  readonly p: string;
  readonly s: string;
}

/** One shard of one wide filter. */
export interface ShardName {
  readonly tenant: string;
  readonly topicFilter: string;
  readonly shard: number;
}

/** DynamoDB's limits for keys, in bytes of UTF-8, less a little for the parts beside a name. */
const PARTITION_KEY_BYTES_MAX = 2_000;
const SORT_KEY_BYTES_MAX = 900;
const DYNAMODB_SORT_KEY_BYTES_MAX = 1_024;

/** No MQTT string contains U+0000, so joined parts are unambiguous. */
const join = (...parts: readonly string[]) => parts.join('\0');

export function hashOf(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 22);
}

/** Of a holder or a filter shape among the few of a tenant or stream: what is noted for many has to be short. */
export function shortHash(name: string): string {
  return hashOf(name).slice(0, 8);
}

/** The name; or its beginning and a hash, if it is too long for a key. No other name contains the `mark`. */
function fit(name: string, bytesMax: number, mark = '\0\0'): string {
  if (name.length * 3 <= bytesMax || Buffer.byteLength(name) <= bytesMax) return name;
  // A third of the bytes, in characters, is never above the limit.
  return `${cut(name, Math.floor(bytesMax / 3))}${mark}${hashOf(name)}`;
}

/** Never cuts a surrogate pair. */
function cut(name: string, length: number): string {
  const code = name.charCodeAt(length - 1);
  return name.slice(0, code >= 0xd800 && code < 0xdc00 ? length - 1 : length);
}

/** Kinds of partitions in the table that the sweep scans: connections, sessions, records, numbers, and accounts. */
const SESSIONS_KINDS: ReadonlySet<string> = new Set(['C', 'S', 'Z', 'N', 'Q']);

/** Which of the two tables has a partition. */
export function isInSessionsTable(p: string): boolean {
  return SESSIONS_KINDS.has(p.slice(0, p.indexOf('\0')));
}

/**
 * Kinds of partitions in the table of streams: the log and the last values of a topic, the topics of a stream, and
 * rooms.
 */
const STREAMS_KINDS: ReadonlySet<string> = new Set(['L', 'T', 'V', 'O']);

/** Whether the table of streams has a partition. */
export function isInStreamsTable(p: string): boolean {
  return STREAMS_KINDS.has(p.slice(0, p.indexOf('\0')));
}

/** Kind and tenant come first: no name leads out of its tenant [SEC-TENANT-3]. */
const partition = (...parts: readonly string[]) => fit(join(...parts), PARTITION_KEY_BYTES_MAX);

/** A connection has no tenant before its CONNECT. */
export const linkKey = (connectionId: ConnectionId): Key => ({ p: partition('C', connectionId), s: 'link' });

export const sessionItemKey = (tenant: string, clientId: string): Key => ({
  p: partition('S', tenant, clientId),
  s: 'session',
});

export type Incarnation = Pick<SessionRef, 'tenant' | 'clientId' | 'incarnation'>;

/** Everything that one incarnation of a session owns. */
export const ownedPartition = ({ tenant, clientId, incarnation }: Incarnation): string =>
  partition('I', tenant, incarnation, clientId);

/** The record of one incarnation, in a partition of its own: throttling of the log does not hit it. */
export const recordKey = ({ tenant, clientId, incarnation }: Incarnation): Key => ({
  p: partition('Z', tenant, incarnation, clientId),
  s: 'record',
});

export const OWNED = {
  list: 'list',
  overflow: 'list\0',
  received: 'received',
  waiting: 'wait\0',
  /** These sort before all other keys, so that a query for the others does not read them. See `Forgotten`. */
  copies: 'copies\0',
  lateCopy: 'copy\0',
} as const;

/** The deduplication record of a message's copy for a share group, whichever member has it. */
export const sharedCopyKey = (tenant: string, messageId: string, copy: string): Key => ({
  p: partition('M', tenant, messageId),
  s: copy,
});

/** The progress of the sweep: of no tenant, as the sweep scans all of them. */
export const sweepKey: Key = { p: 'Y', s: 'sweep' };

/** The bans of all tenants: an address is banned before its client has named a tenant. */
export const bansKey: Key = { p: 'Y', s: 'bans' };

/** Sort keys of tenants begin with it. A name has at most 64 characters. */
export const TENANTS_FROM = 'tenant\0';
export const endOfTenants = `${TENANTS_FROM}\u{10ffff}`;

/** The register of tenants is the operator's, and of no tenant. */
export const tenantKey = (name: string): Key => ({ p: 'Y', s: TENANTS_FROM + name });

/** Sort keys of users begin with it. */
export const USERS_FROM = 'user\0';
export const endOfUsers = `${USERS_FROM}\u{10ffff}`;

/**
 * A name that is too long for a key is cut and ends with a hash, so two long names that begin alike have different
 * keys.
 */
export const userKey = (tenant: string, name: string): Key => ({
  p: partition('U', tenant),
  s: USERS_FROM + fit(name, SORT_KEY_BYTES_MAX),
});

/** `2026-11-25` */
const DAY_LENGTH = 10;

/** The usage of all tenants in a day: of no tenant, as an operator asks for all of them. */
export const usagePartition = (time: string): string => join('A', time.slice(0, DAY_LENGTH));

/** A tenant's name has at most 64 characters. */
export const usageKey = (tenant: string, hour: string, environmentId: string): Key => ({
  p: usagePartition(hour),
  s: join(hour, tenant, environmentId),
});

export const registryKey = (tenant: string): Key => ({ p: partition('H', tenant), s: 'shapes' });

const filterText = ({ topicFilter, shareGroup }: FilterName) => join(topicFilter, shareGroup ?? '');

export const headKey = (tenant: string, topicFilter: string): Key => ({
  p: partition('F', tenant, topicFilter),
  s: 'head',
});

export const shardPartition = (tenant: string, topicFilter: string, shard: number): string =>
  partition('W', tenant, String(shard), topicFilter);

export const progressKey = ({ tenant, topicFilter, shard }: ShardName): Key => ({
  p: partition('P', tenant, String(shard), topicFilter),
  s: 'progress',
});

export const groupKey = (tenant: string, filter: FilterName): Key => ({
  p: partition('G', tenant, filterText(filter)),
  s: 'group',
});

/** The name of a subscription within its session's list. */
export const filterHash = (filter: FilterName): string => hashOf(filterText(filter));

export const retainedPartition = (tenant: string): string => partition('R', tenant);

/** The prefix of all partitions of retained messages. */
export const RETAINED_PARTITIONS = retainedPartition('');

/**
 * A topic as a sort key. U+0000 separates levels and sorts before all else: `a` and everything below it stand
 * together. A long topic keeps its beginning, so that a literal prefix still finds it; its end becomes a level with a
 * `#`, which no topic name contains.
 */
export const retainedSort = (topicName: string): string =>
  fit(topicName.replaceAll('/', '\0'), SORT_KEY_BYTES_MAX, '\0#');

/** The longest literal prefix of every sort key below `literal`. */
export const retainedPrefix = (literal: string): string =>
  cut(literal.replaceAll('/', '\0'), Math.min(literal.length, Math.floor(SORT_KEY_BYTES_MAX / 3)));

/** Not lower than any sort key with the prefix: U+10FFFF is the last code point, and topics may contain it. */
export const retainedEnd = (prefix: string): string => {
  const room = DYNAMODB_SORT_KEY_BYTES_MAX - Buffer.byteLength(prefix);
  return prefix + '\u{10ffff}'.repeat(Math.floor(room / 4));
};

export const bodyPartition = (tenant: string, kind: 'queued' | 'retained', messageId: string): string =>
  partition('B', tenant, kind, messageId);

/** The log of a topic: its root, and its tiles. */
export const streamLogPartition = (tenant: string, topic: string): string => partition('L', tenant, topic);

/** Sorts after all tiles: one backward Query reads it and the newest tile. */
const STREAM_ROOT = '~';

export const streamRootKey = (tenant: string, topic: string): Key => ({
  p: streamLogPartition(tenant, topic),
  s: STREAM_ROOT,
});

const NUMBER_DIGITS = 15;

/** The tile of one message. Tiles of a later log sort after those of an earlier one. */
export const streamTileKey = (tenant: string, topic: string, log: string, number: number): Key => ({
  p: streamLogPartition(tenant, topic),
  s: `${log}-${String(number).padStart(NUMBER_DIGITS, '0')}`,
});

export const streamValuesPartition = (tenant: string, stream: string, topic: string): string =>
  partition('V', tenant, stream, topic);

/** The last value of a key. A topic whose messages have no key has one value. */
export const streamValueKey = (
  tenant: string,
  stream: string,
  topic: string,
  key: string | undefined,
): Key => ({
  p: streamValuesPartition(tenant, stream, topic),
  s: key === undefined ? '-' : `=${fit(key, SORT_KEY_BYTES_MAX - 1)}`,
});

export const streamTopicsPartition = (tenant: string, stream: string): string =>
  partition('T', tenant, stream);

export const streamTopicKey = (tenant: string, stream: string, topic: string): Key => ({
  p: streamTopicsPartition(tenant, stream),
  s: fit(topic, SORT_KEY_BYTES_MAX),
});

/** The longest prefix of the sort keys of all topics that begin with the literal. */
export const streamTopicPrefix = (literal: string): string =>
  cut(literal, Math.min(literal.length, Math.floor(SORT_KEY_BYTES_MAX / 3)));

/** Sort keys of a room's members, and of the notes on those that have changed, begin so. */
export const PRESENCE_MEMBERS = '=';
export const PRESENCE_NOTES = '!';

export const presenceRoomKey = (tenant: string, room: string): Key => ({
  p: partition('O', tenant, room),
  s: '#',
});

interface RoomMember {
  readonly tenant: string;
  readonly room: string;
  readonly member: string;
}

export const presenceMemberKey = ({ tenant, room, member }: RoomMember): Key => ({
  p: presenceRoomKey(tenant, room).p,
  s: PRESENCE_MEMBERS + fit(member, SORT_KEY_BYTES_MAX),
});

export const presenceNoteKey = ({ tenant, room, member }: RoomMember): Key => ({
  p: presenceRoomKey(tenant, room).p,
  s: PRESENCE_NOTES + fit(member, SORT_KEY_BYTES_MAX),
});

/** The account of a quota's holder. An identity and a client of the same name are different. */
export const quotaAccountKey = (account: {
  readonly tenant: string;
  readonly kind: string;
  readonly name: string;
  readonly of: string;
}): Key => ({
  p: partition('Q', account.tenant, account.kind, account.name),
  s: account.of,
});

export const countKey = (name: string, tenant: string): Key => ({
  p: partition('N', tenant, name),
  s: 'count',
});
