/** Of a format that this program does not know it reads nothing: see `Database`. */
export const FORMAT_VERSION = 2;

/**
 * The operations of one transaction. A larger one would delay all that wait for it, and its pages are in memory until
 * it is committed. 8,000 writes were measured to take 20 to 40 ms, five to ten times an empty one.
 */
export const BATCH_OPERATIONS_MAX = 8192;
export const BATCH_BYTES_MAX = 4 * 1024 * 1024;

/**
 * The bytes that may wait for the disk. Beyond it calls that promise nothing answer late as well, so that clients that
 * cause the writes are read no faster than the disk takes them.
 */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * How long the will of a connection that a crash has cut waits at least, counted from the restart: its client did not
 * fail, and comes back within seconds (mqtt.js after 1 s, most others within 30 s).
 */
export const WILL_GRACE_SECONDS = 30;

/**
 * Retained messages looked at for each one with an expiry that is stored: those whose time has come leave the disk at
 * the pace at which others come.
 */
export const SWEEP_LENGTH = 2;
