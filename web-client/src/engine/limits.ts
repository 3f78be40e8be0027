/** Messages that a connection's log holds: ten seconds of the heaviest stream that the client is made for. */
export const MESSAGES_MAX = 50_000;

/** Bytes of these messages, including objects: a browser tab with several connections stays below a few hundred MiB. */
export const MESSAGES_BYTES_MAX = 64 * 1024 * 1024;

/** Gap marks in a log: a broker that drops messages for minutes causes one a second. */
export const MARKS_MAX = 200;

/** Packets in the timeline of a connection. */
export const PACKETS_MAX = 5_000;

/** Bytes of packets in the timeline. */
export const PACKETS_BYTES_MAX = 8 * 1024 * 1024;

/** Text frames of the gateway door that a connection's log holds: as many as packets. */
export const FRAMES_MAX = PACKETS_MAX;

/** Bytes of the packets in them. */
export const FRAMES_BYTES_MAX = PACKETS_BYTES_MAX;

/** How long the worker gathers before it sends to the page: one frame. */
export const BATCH_INTERVAL_MS = 16;

/** Messages that wait for a busy page: as many as its log keeps. */
export const BATCH_MESSAGES_MAX = MESSAGES_MAX;

/** Bytes that wait for a page that is busy. */
export const BATCH_BYTES_MAX = MESSAGES_BYTES_MAX;

/** How often the page gets a connection's counters and rates. */
export const STATUS_INTERVAL_MS = 500;

/** Messages of a connection that are stored across a reload: reading more would delay the page. */
export const KEPT_MESSAGES_MAX = 10_000;

/** Bytes of them: twenty connections stay far below what a browser gives a page. */
export const KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** The least time between two writes of messages. A reload loses messages after the last write. */
export const KEEP_INTERVAL_MS = 1_000;

/** A record of stored messages that holds this many, or this many bytes, is not written again. */
export const KEPT_RECORD_MESSAGES = 500;
export const KEPT_RECORD_BYTES = 256 * 1024;
