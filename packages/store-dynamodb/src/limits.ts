/** Every limit and duration of this store, with its reason. Those that a deployment may want to change are options. */

/** A cached set of filter shapes is used for this long; the SUBACK of a new shape waits for it. Wall clock. */
export const LEASE_MS = 2_000;

/** Clocks of two processes may disagree by this much before a shape's age is misjudged. */
export const CLOCK_SKEW_MS = 5_000;

/** Shapes of a tenant: each costs every publish one read. Beyond it: 0x97. */
export const SHAPES_MAX = 64;

/**
 * Subscribers that stand in the head itself. Eight are one write unit and twelve two, also with tokens; the thirteenth is
 * a job, a worker and its claim for each message. A shard would cost those from the ninth on two units as well: the try
 * at the full head, and the entry.
 */
export const INLINE_SUBSCRIBERS_MAX = 12;

/** Subscribers of a shard; one Query of 1 MB reads them all. When it is full the filter doubles its shards. */
export const SHARD_SUBSCRIBERS = 1_000;

/** One in this many subscribers that join a shard counts it. */
export const SHARD_SAMPLE = 32;

/** Shards of one filter: a fan-out visits every one. 256 hold a quarter of a million subscribers. */
export const SHARDS_MAX = 256;

/** Members of a share group: they stand in one item of at most 400 KB. Beyond it: 0x97. */
export const SHARE_MEMBERS_MAX = 1_000;

/**
 * Bytes of a share group's members, where their client ids are long: an item holds 400 KB, and its key may have 2 KB. A
 * thousand members with client ids of 200 bytes have room. Beyond it: 0x97.
 */
export const SHARE_GROUP_BYTES_MAX = 384 * 1_024;

/** Of a member beside its client id: incarnation, flags, and the connection of a session that keeps nothing. */
export const MEMBER_BYTES_BESIDE_CLIENT_ID = 180;

/** Share groups of one filter: each costs every publish that fits the filter one read. Beyond it: 0x97. */
export const SHARE_GROUPS_MAX = 64;

/** After every eighth group that a filter gets, the store looks for groups without members: a read for each group. */
export const SHARE_GROUPS_LOOK = 8;

/** Of a share group's name: 64 of them stand in a head, an item of at most 400 KB that every publish reads. Beyond it: 0x97. */
export const SHARE_GROUP_NAME_BYTES_MAX = 1_024;

/**
 * Members of a share group whose sessions are read, a read each, to find one that is connected: as many as a frame has
 * messages of the topic, and at most these. If none of them is connected, so many are read, and then the sessions of all
 * members. The frame's messages are shared among those that were read; the next frame picks others at random.
 */
export const SHARE_MEMBERS_READ = 3;

/** Subscriptions that stand in the session's list itself; further ones are items of their own. */
export const LISTED_SUBSCRIPTIONS_MAX = 16;

/** A message whose encoding is longer is stored once and referred to: one write unit for each reference. */
export const INLINE_MESSAGE_BYTES_MAX = 1_024;

/** A retained message has one owner: it is stored inline as far as an item can hold it. */
export const INLINE_RETAINED_BYTES_MAX = 256 * 1_024;

/**
 * Items that the first Query for retained messages reads, before it is known how large they are: a read unit or two of
 * small ones, a hundred of 24 KB each.
 */
export const RETAINED_FIRST_ITEMS = 16;

/** A Query reads at most this many times as many items as the one before: by how much a guess can be wrong. */
export const RETAINED_GROWTH = 8;

/** Items of one Query for retained messages: 1 MB, where a Query ends, holds no more of a hundred bytes. */
export const RETAINED_ITEMS_MAX = 10_000;

/** Larger bodies are cut in pieces: an item holds 400 KB at most. */
export const PIECE_BYTES = 256 * 1_024;

/** Largest encoding of a will, which is stored with its session: an item holds 400 KB, and twice a will at a take-over. */
export const WILL_BYTES_MAX = 128 * 1_024;

/** Attempts of one call. Where one in ten fails, all of them do once in ten thousand million calls. */
export const ATTEMPTS_MAX = 10;

/** The first pause is at most this; each further one at most twice the one before. DynamoDB answers in a few ms. */
export const FIRST_PAUSE_MS = 25;

/** No pause is longer: throttling that lasts longer is not momentary. */
export const PAUSE_MS_MAX = 400;

/** No attempt begins later than this after the first: half of the five seconds that a handler has. */
export const RETRY_MS_MAX = 2_500;

/** How often a decision is taken anew when others change the item that it was based on. */
export const DECISIONS_MAX = 8;

/**
 * Places in a topic's log that an append tries for: others that publish to the topic have taken those before. With
 * calls of 4 ms a topic takes some 150 messages a second so. Beyond it, or after `RETRY_MS_MAX`: 0x97.
 */
export const STREAM_APPENDS_TRIED_MAX = 50;

/** The history of a topic is handed out this much longer to a reader that has begun in time. */
export const STREAM_SLACK_MS = 60_000;

/**
 * An item of a stream stays this much longer than it may be asked for: TTL takes items in any order, and none may go
 * while an older one still counts.
 */
export const STREAM_TTL_SLACK_SECONDS = 2 * 24 * 60 * 60;

/** Notes of a tile about earlier ones, from which later tiles learn up to where messages had become stable. */
export const STREAM_CHECKPOINTS_MAX = 4;

/** The last value of a key is kept this long, unless a later message takes its place. */
export const STREAM_VALUE_KEPT_MS = 366 * 24 * 60 * 60 * 1_000;

/** Keys that a snapshot reads at most, those that were taken out with them. A SUBACK brings no more than 1,000 values. */
export const STREAM_VALUES_READ_MAX = 20_000;

/** Messages whose handlers may not have written their values yet, ten seconds of a topic at its limit and more. */
export const STREAM_UNSTABLE_MAX = 4_000;

/** Ends of logs that are read at the same time for one filter. */
export const STREAM_LANES = 16;

/** Topics of which nothing is kept any more stand in their list until TTL takes them: this many times those wanted. */
export const STREAM_TOPICS_LOOKED_AT = 4;

/** One in so many members that come or go changes the number of a room, by as many. */
export const PRESENCE_COUNT_SAMPLE = 16;

/** A room that is full by its count is counted again after this time. */
export const PRESENCE_COUNT_FRESH_MS = 60_000;

/** A tick that is due for so long has lost its timer. */
export const PRESENCE_TICK_LATE_MS = 60_000;

/** The same of a conflated group. */
export const CONFLATED_TICK_LATE_MS = 60_000;

/** The function of timers has told a group within this time, or it is dead: it has 30 seconds. Less than its queue's visibility timeout. */
export const CONFLATED_CLAIM_MS = 40_000;

/** Looks for the subscribers of a group, where each time one has come meanwhile. */
export const CONFLATED_LOOKS_MAX = 5;

/** A change that no tick tells of is forgotten. */
export const PRESENCE_NOTE_SECONDS = 24 * 60 * 60;

/** Notes that are deleted at the same time. */
export const PRESENCE_LANES = 16;

/**
 * Data that come again within this time are told again, where the process that had them first may have died: a client
 * that got no answer is back by then.
 */
export const PRESENCE_REPEATED_MS = 120_000;

/** Packet ids that are tried blindly before the window is read. */
export const PROBES_MAX = 3;

/** One in this many changes of a number over a tenant is written, as this many. */
export const COUNT_SAMPLE = 64;

/** The same of a number of bytes: a write for 64 KB, which are 64 write units themselves. */
export const BYTES_SAMPLE = 64 * 1_024;

/** A number over a tenant is read again after this time. */
export const COUNT_CACHE_MS = 60_000;

/** After its session or message has expired an item stays this long: the broker, not TTL, decides what has expired. */
export const TTL_SLACK_SECONDS = 24 * 60 * 60;

/** How far a shard's workers have come is kept as long as SQS can keep a message. */
export const PROGRESS_SECONDS = 14 * 24 * 60 * 60;

/**
 * A worker's function and its visibility timeout end before this: a worker that wrote longer ago is gone. It ends the
 * wait for a queue that was made anew and counts from the beginning.
 */
export const WORKER_LIFE_MS_MAX = 60_000;

/**
 * A filter whose workers are behind refuses publishers for this long. A worker that is still behind then says so again.
 */
export const BEHIND_MS = 5_000;

/**
 * How long a process uses the list of bans that it has read. An operator that bans a client looks for its connections
 * once more when every process has read the list again.
 */
export const BANS_FRESH_MS = 30_000;

/** The whole list is read every half minute: 50 units at this size, and one where there are a few dozen bans. */
export const BANS_BYTES_MAX = 200_000;
