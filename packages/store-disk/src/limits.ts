/** The format of the data. A file of another format is refused: see `Database`. */
export const FORMAT_VERSION = 2;

/**
 * Operations of one transaction. A larger one would delay all callers that wait for it, and keeps its pages in memory
 * until it is committed. 8,000 writes were measured to take 20 to 40 ms, five to ten times an empty one.
 */
export const BATCH_OPERATIONS_MAX = 8192;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/** Room that the data file has beside that for the next batch: the file grows by twice as much at a time. */
export const RESERVE_STEP_BYTES = 256 * 1024;

/** More than LMDB writes to open its files: two pages of at most 64 KiB, and its table. */
export const PROBE_BYTES = 192 * 1024;

/** LMDB makes a table of 8 KiB for 126 readers. */
export const TABLE_BYTES_MAX = 1024 * 1024;

/**
 * Bytes that may wait for the disk. Beyond it calls that promise nothing wait as well, so that the clients that cause
 * the writes are read no faster than the disk is.
 */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * How long the will of a connection that a crash has cut waits at least, from the restart: its client did not fail,
 * and comes back within seconds (mqtt.js after 1 s, most others within 30 s).
 */
export const WILL_GRACE_SECONDS = 30;

/** Entries of a stream's topic whose places in the index are one record: a start reads these, and no entry of them. */
export const INDEX_LENGTH = 256;

/**
 * Retained messages looked at for each stored one with an expiry: expired messages leave the disk at the pace at which
 * others come.
 */
export const SWEEP_LENGTH = 2;
