import { STABLE_AFTER_MS } from '@apus/broker';

/**
 * The limits and durations of this store, each with its reason. Those that a deployment may want to change are options.
 */

/** Cache lifetime of the filter shapes; the SUBACK of a new shape waits for it. Wall clock. */
export const LEASE_MS = 2_000;

/** How much the clocks of two processes may differ before the age of a shape is misjudged. */
export const CLOCK_SKEW_MS = 5_000;

/** Filter shapes of a tenant: each costs every publish one read. Beyond it: 0x97. */
export const SHAPES_MAX = 64;

/**
 * Of these, those that one identity may bring; clients without a name count by their address. The filters of most
 * applications have less than ten shapes. Beyond it: 0x97.
 */
export const FILTER_SHAPES_OF_IDENTITY_MAX = 16;

/** How long a process subscribes to a shape that it has found without reading again that it is there. */
export const SHAPE_TRUSTED_MS = 600_000;

/**
 * How long a shape stays after the sweep has found no subscription of it. Longer than `SHAPE_TRUSTED_MS` and the life of
 * an event together, with room for clocks that differ.
 */
export const SHAPE_UNUSED_MS = 1_800_000;

/**
 * Subscribers in the head of a filter. Eight take one write unit and twelve take two, also with tokens; the thirteenth
 * makes a job, a worker and its claim for each message. To place the ninth to twelfth in a shard would save nothing:
 * the attempt at the full head and the entry in the shard cost two units as well.
 */
export const INLINE_SUBSCRIBERS_MAX = 12;

/** Subscribers of a shard: one Query of 1 MB reads them all. If a shard is full the filter doubles its shards. */
export const SHARD_SUBSCRIBERS = 1_000;

/** One in this many joining subscribers counts its shard. */
export const SHARD_SAMPLE = 32;

/** Shards of one filter: a fan-out visits every one. 256 hold a quarter of a million subscribers. */
export const SHARDS_MAX = 256;

/** Members of a share group: they stand in one item, of at most 400 KB. Beyond it: 0x97. */
export const SHARE_MEMBERS_MAX = 1_000;

/**
 * Bytes of a share group's members: an item has at most 400 KB, and a client id may have 2 KB. There is room for a
 * thousand members with client ids of 200 bytes. Beyond it: 0x97.
 */
export const SHARE_GROUP_BYTES_MAX = 384 * 1_024;

/** Bytes of a member beside its client id: incarnation, flags, and the connection of a session that keeps nothing. */
export const MEMBER_BYTES_BESIDE_CLIENT_ID = 180;

/** Share groups of one filter: each costs every publish that fits the filter one read. Beyond it: 0x97. */
export const SHARE_GROUPS_MAX = 64;

/** With every eighth new group of a filter the store looks for groups without members: a read for each group. */
export const SHARE_GROUPS_LOOK = 8;

/**
 * Bytes of a share group's name: 64 of them stand in a head, an item of at most 400 KB that every publish reads.
 * Beyond it: 0x97.
 */
export const SHARE_GROUP_NAME_BYTES_MAX = 1_024;

/**
 * Members of a share group whose sessions are read at first, a read each, to find a connected one: as many as the
 * frame has messages of the topic, but at most this many. If none is connected, as many more are read, and then all.
 * The frame's messages are shared among the members that were read; the next frame chooses others at random.
 */
export const SHARE_MEMBERS_READ = 3;

/** Subscriptions in the session's list item. Each further one is an item of its own. */
export const LISTED_SUBSCRIPTIONS_MAX = 16;

/** Entries of a record: each takes some 28 bytes of an item that every write is billed for. */
export const ENTRIES_MAX = 1_024;

/**
 * Entries that one write adds. A QoS 2 message for a share group is written with a deduplication record of its own,
 * and a transaction has a hundred items.
 */
export const ENTRIES_AT_ONCE_MAX = 99;

/** Up to this size a record costs one write unit. A publisher appends the messages that would make it larger. */
export const RECORD_BYTES_MAX = 1_024;

/** One batch may make an empty record this large: the write costs as much as its messages would cost in the log. */
export const FIRST_BATCH_BYTES_MAX = 8_192;

/** Bytes of completed names above which a record forgets the oldest ones: some 28 names. */
export const COMPLETED_BYTES_MAX = 560;

/** Bytes of the newest names that it keeps then: some five. A message that is a little late is still among them. */
export const COMPLETED_BYTES_KEPT = 100;

/** Late names that one transaction writes: each is an item of its own, and a transaction has a hundred. */
export const LATE_NAMES_MAX = 50;

/** Notes of acknowledgements in a record. The handler of the next one reads the record and writes it whole. */
export const NOTED_MAX = 32;

/** How many of the oldest messages one Query of the log reads to make room for a new one. */
export const DROPS_READ = 8;

/** A message with a longer encoding is stored once, and referred to: one write unit for each reference. */
export const INLINE_MESSAGE_BYTES_MAX = 1_024;

/** A retained message has one owner, so it stands in its item as far as the item can hold it. */
export const INLINE_RETAINED_BYTES_MAX = 256 * 1_024;

/**
 * Items that the first Query for retained messages reads, before their size is known: small ones take a read unit or
 * two, and 24 KB each a hundred.
 */
export const RETAINED_FIRST_ITEMS = 16;

/** Each Query reads at most this many times as many items as the one before, since the estimate may be wrong. */
export const RETAINED_GROWTH = 8;

/** Items of one Query for retained messages: 1 MB, where a Query ends, has no more of a hundred bytes. */
export const RETAINED_ITEMS_MAX = 10_000;

/** Larger bodies are cut into pieces: an item has at most 400 KB. */
export const PIECE_BYTES = 256 * 1_024;

/** Largest encoding of a will. It stands in the session's item, of at most 400 KB, and twice at a take-over. */
export const WILL_BYTES_MAX = 128 * 1_024;

/** Attempts of one call. If one in ten fails, all of them fail once in ten thousand million calls. */
export const ATTEMPTS_MAX = 10;

/** The longest first pause; each further one is at most twice the one before. DynamoDB answers in a few ms. */
export const FIRST_PAUSE_MS = 25;

/** The longest pause: throttling that lasts longer is not momentary. */
export const PAUSE_MS_MAX = 400;

/** No attempt begins later than this after the first: half of a handler's five seconds. */
export const RETRY_MS_MAX = 2_500;

/** How often a decision is made again because other processes have changed the item. */
export const DECISIONS_MAX = 8;

/**
 * Places in a topic's log that one append tries: a try fails if another publisher has taken the place. With calls of 4
 * ms a topic takes some 150 messages a second. Beyond it, or after `RETRY_MS_MAX`: 0x97.
 */
export const STREAM_APPENDS_TRIED_MAX = 50;

/**
 * A log can be read for this much longer than its stream keeps messages, so that a reader that began in time can go on.
 */
export const STREAM_SLACK_MS = 60_000;

/**
 * An item of a stream is kept for this much longer than it can be asked for: TTL deletes items in any order, and none
 * may be deleted while an older one still counts.
 */
export const STREAM_TTL_SLACK_SECONDS = 2 * 24 * 60 * 60;

/** Notes in a tile about earlier ones, from which later tiles learn up to where messages are stable. */
export const STREAM_CHECKPOINTS_MAX = 4;

/**
 * For so long after its append a message that its source hands over again keeps its place, and is sent again under its
 * number. Half of the time after which readers take it for sent (`STABLE_AFTER_MS`): later it is appended once more.
 */
export const STREAM_REPEATED_MS = STABLE_AFTER_MS / 2;

/** Sources whose newest messages a tile names, in some 40 bytes each: partitions of Kafka, for example. */
export const STREAM_ORIGINS_MAX = 64;

/** Tiles that are read to find a repeated message which is not the newest of its source. */
export const STREAM_REPEATED_READ_MAX = 200;

/** The last value of a key is kept this long, unless a later message takes its place. */
export const STREAM_VALUE_KEPT_MS = 366 * 24 * 60 * 60 * 1_000;

/** Keys that a snapshot reads, deleted ones included. A SUBACK brings at most 1,000 values. */
export const STREAM_VALUES_READ_MAX = 20_000;

/** Messages whose handlers may not have written their values yet: more than ten seconds of a topic at its limit. */
export const STREAM_UNSTABLE_MAX = 4_000;

/** Ends of logs that are read side by side for one filter. */
export const STREAM_LANES = 16;

/** Topics without any messages stay in the list until TTL deletes them: it reads this many times the wanted number. */
export const STREAM_TOPICS_LOOKED_AT = 4;

/** One in this many members that join or leave changes the room's number, by as many. */
export const PRESENCE_COUNT_SAMPLE = 16;

/** A room that seems full is counted again after this time. */
export const PRESENCE_COUNT_FRESH_MS = 60_000;

/** A tick that has been due for so long has lost its timer. */
export const PRESENCE_TICK_LATE_MS = 60_000;

/** A tick of a conflated group that has been due for so long has lost its timer. */
export const CONFLATED_TICK_LATE_MS = 60_000;

/**
 * How long a process may work on the tick of a group before another process may begin the tick again. The timers'
 * function has ended by then, after 30 seconds at most. Below the visibility timeout of its queue.
 */
export const CONFLATED_CLAIM_MS = 40_000;

/** Looks for the subscribers of a group, each because one has joined since the last look. */
export const CONFLATED_LOOKS_MAX = 5;

/** A change that no tick has told is deleted after this time. */
export const PRESENCE_NOTE_SECONDS = 24 * 60 * 60;

/** Notes that are deleted at the same time. */
export const PRESENCE_LANES = 16;

/**
 * If the same data come again within this time they are told again, since the process that had them first may have
 * died. A client without an answer is back by then.
 */
export const PRESENCE_REPEATED_MS = 120_000;

/** One in this many changes of a tenant's number is written, as this many. */
export const COUNT_SAMPLE = 64;

/**
 * Bytes that one write of a tenant's number stands for. A change of 64 KB is always written, and costs 64 write units
 * itself.
 */
export const BYTES_SAMPLE = 64 * 1_024;

/** A number over a tenant is read again after this time. */
export const COUNT_CACHE_MS = 60_000;

/** How long a queued message is kept: twice the broker's `sessionExpirySecondsMax`. */
export const QUEUE_SECONDS_MAX = 14 * 24 * 60 * 60;

/** For how long a repeated fan-out is recognized: the broker's `sessionExpirySecondsMax`. */
export const REPEAT_SECONDS_MAX = 7 * 24 * 60 * 60;

/** For how long a put with an older id than a delete is refused: far longer than a handler lives. */
export const RETAINED_TOMBSTONE_SECONDS = 600;

/** The gateway closes a connection at two hours; an item that is older than three was left behind. */
export const LINK_SECONDS_MAX = 3 * 60 * 60;

/** Longer than any packet of an ended connection can be on its way to a handler. */
export const LINK_TOMBSTONE_SECONDS = 60 * 60;

/** Rows of usage are kept for thirteen months: an invoice may be asked for a year later. */
export const USAGE_SECONDS = 396 * 24 * 60 * 60;

/**
 * An item stays for this long after its session or message has expired: the broker, not TTL, decides what has expired.
 */
export const TTL_SLACK_SECONDS = 24 * 60 * 60;

/** How long the progress of a shard's workers is kept: as long as SQS can keep a message. */
export const PROGRESS_SECONDS = 14 * 24 * 60 * 60;

/**
 * A worker that has not written for this long is gone: its function and its visibility timeout end earlier. Used for a
 * queue that was made anew, whose sequence numbers begin again.
 */
export const WORKER_LIFE_MS_MAX = 60_000;

/**
 * How long a filter whose workers are behind refuses publishers. A worker that is still behind then renews the mark.
 */
export const BEHIND_MS = 5_000;

/**
 * How long a process uses the list of bans that it has read. After a ban the operator looks for connections once more
 * when every process has read the list again.
 */
export const BANS_FRESH_MS = 30_000;

/** Bytes of the list, which is read every half minute: 50 units at this size, and one with a few dozen bans. */
export const BANS_BYTES_MAX = 200_000;
