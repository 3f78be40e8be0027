/** Connections of a run. A browser opens sockets to one host one after another, and at most 255. */
export const CONNECTIONS_MAX = 200;

/** Published messages a second, all publishers together: above it a tab measures itself. */
export const RATE_PER_SECOND_MAX = 50_000;

/** The longest run, and so the rows of its table. */
export const DURATION_SECONDS_MAX = 3_600;

/** The least payload, which contains the fields of a run. */
export const PAYLOAD_BYTES_MIN = 20;

/**
 * The gateway door takes packets of 24,573 bytes, the node door 2 MiB by default; a bench with larger ones would
 * measure copying.
 */
export const PAYLOAD_BYTES_MAX = 65_536;

/**
 * Unacknowledged publishes of one publisher: above it messages wait, and their latency counts from when they were due.
 */
export const OUTSTANDING_MAX = 1_000;

/** Sequence numbers of a stream in which duplicates are recognised; an older one counts as out of order. */
export const SEQUENCE_WINDOW = 4_096;

/** How often due messages are published. */
export const TICK_MS = 5;

/** How often the page gets the progress of a run. */
export const SNAPSHOT_INTERVAL_MS = 250;

/** Connections that are opened concurrently. */
export const OPENING_MAX = 10;

/** How long a run waits for further messages after the last publish. */
export const DRAIN_SECONDS = 5;

/** Longer latencies count as 60 s. */
export const LATENCY_MICROSECONDS_MAX = 60_000_000;
