/** Series of all charts: with more, colours are hard to distinguish. */
export const SERIES_MAX = 12;

/**
 * Samples of a series, at 16 bytes each; the oldest are dropped first. A day at one a second, twenty seconds at 5,000.
 */
export const SAMPLES_MAX = 100_000;

/** A larger payload is not decoded for a chart. */
export const PAYLOAD_BYTES_MAX = 64 * 1024;

/**
 * Bytes of each batch, which comes up to sixty times a second, that are decoded for charts. Further messages are only
 * counted.
 */
export const DECODED_BYTES_PER_BATCH_MAX = 256 * 1024;

/** Messages of the log with which a new series begins. */
export const LOOK_BACK_MESSAGES_MAX = 20_000;

/** Bytes of payloads that it decodes for that, within a frame or two. */
export const LOOK_BACK_BYTES_MAX = 2 * 1024 * 1024;

/** Topics whose series are cached; above it the cache begins anew. */
export const TOPICS_MAX = 10_000;

/** The chart is drawn when its lines have moved by a pixel, and at least this often: new samples are seen soon. */
export const DRAW_INTERVAL_MS_MAX = 250;

/** Lengths of the window that can be chosen, in seconds. */
export const WINDOW_SECONDS = [10, 60, 300, 900, 3_600, 21_600] as const;

/** Interruptions that the lines of a connection show. */
export const GAPS_MAX = 200;
