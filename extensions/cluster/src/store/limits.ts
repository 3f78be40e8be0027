/** The oldest supported version: older ones get no more fixes. */
export const ENGINE_VERSION_MIN = [6, 2] as const;

/** How long a start waits for the engine before it fails. */
export const CONNECT_TIMEOUT_MS = 5000;

/** A connection that was silent for this long is probed, and replaced seconds later if it does not answer. */
export const KEEP_ALIVE_MS = 5000;

/** The time between two attempts to reach an engine that was connected before. */
export const RETRY_MS_MAX = 500;

/**
 * A process whose lease is over counts as dead. For at most this time the clients of a killed process find no other one
 * with their sessions.
 */
export const LEASE_MS = 5000;

/** Four renewals may fail before a lease is over. */
export const RENEW_MS = 1000;

/** Numbers of one epoch: how many records a process writes before it takes another epoch. */
export const NUMBERS_PER_EPOCH = 2 ** 32;

/** Epochs of one engine: 48 bits of a number are in a key. */
export const EPOCHS_MAX = 2 ** 16;

/** Clients that one command claims, releases, or takes over from a dead process. */
export const CLAIMS_STEP = 500;

/**
 * The pause between two commands that claim and release clients. If 200 clients or more a second come to a process,
 * they wait for it, a few ms. A client that comes back to another process before its release has left is served over
 * this one.
 */
export const CLAIMS_PAUSE_MS = 5;

/** Records of a journal that the first command reads, and the most that a later one reads. */
export const SCAN_COUNT_FIRST = 100;
export const SCAN_COUNT_MAX = 2000;

/** Bytes that one command is to read of a journal: records have up to some megabytes each, and most a hundred bytes. */
export const SCAN_BYTES = 4 * 1024 * 1024;

/** Topics that one step of a search for retained messages looks at. */
export const RETAINED_STEP = 256;

/** Steps of one page: a filter that matches few of many topics gets pages that may be empty. */
export const RETAINED_STEPS_MAX = 16;

/** History is kept for this much longer than it is handed out: a reader that began in time reaches the end. */
export const STREAM_SLACK_MS = 60_000;

/** Messages of a stream that one command reads. */
export const STREAM_MESSAGES_READ_MAX = 1000;

/** Bytes of messages of a stream that one command reads. */
export const STREAM_BYTES_READ_MAX = 4 * 1024 * 1024;

/** Messages, and their bytes, that one command appends to a stream. A larger message goes alone. */
export const STREAM_APPENDS_STEP = 256;
export const STREAM_APPENDS_BYTES = 1024 * 1024;

/** Topics of a stream that one command looks at. */
export const STREAM_TOPICS_STEP = 500;

/** Keys of one topic whose last values are kept. Above it the oldest value is dropped. */
export const STREAM_VALUES_MAX = 10_000;

/** Values that one command reads, up to `STREAM_BYTES_READ_MAX`. */
export const STREAM_VALUES_STEP = 200;

/**
 * Bytes of the streams of one tenant [SEC-GROWTH-8]: this share of the engine's memory, or so many where that has no
 * limit. The sessions and messages of all tenants need the rest.
 */
export const TENANT_STREAMS_SHARE = 1 / 2;
export const TENANT_STREAM_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * Memory of a message, a topic and a last value beside their bytes and names, and the factor by which the allocator of
 * the engine rounds up. stream-budget.test.ts measures that none takes more.
 */
export const STREAM_ENTRY_BYTES = 192;
export const STREAM_TOPIC_BYTES = 12_288;
export const STREAM_VALUE_BYTES = 320;
export const STREAM_ORIGIN_BYTES = 256;
export const STREAM_ALLOCATED_MAX = 5 / 4;

/** Members of a room that one command reads. */
export const MEMBERS_STEP = 500;

/** Counts that one command reads of a dead process. */
export const HELD_STEP = 500;

/** How long one process publishes delayed messages before another may, if it does not say that it is done. */
export const TURN_MS = 10_000;

/** Days for which the usage of tenants is kept: a year, and time to invoice its last month. */
export const USAGE_DAYS_MAX = 400;

/** How often a report reads usage again because an hour has ended meanwhile. */
export const USAGE_READS_MAX = 5;
