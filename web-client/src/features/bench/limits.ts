/** Connections of a run. A browser opens sockets to one host one after another, and holds 255 at most. */
export const CONNECTIONS_MAX = 200;

/** Messages a second that are published, all publishers together: beyond it a tab measures itself. */
export const RATE_PER_SECOND_MAX = 50_000;

/** The longest run, and so the rows of its table. */
export const DURATION_SECONDS_MAX = 3_600;

/** A payload holds what a run needs to know of its message. */
export const PAYLOAD_BYTES_MIN = 20;

/** The gateway door takes packets of 24,573 bytes, the node door 2 MiB by default; a bench of larger ones is a copy. */
export const PAYLOAD_BYTES_MAX = 65_536;

/** Publishes of one publisher that are not acknowledged: beyond it messages wait, and their latency counts from when they were due. */
export const OUTSTANDING_MAX = 1_000;

/** Sequence numbers of a stream that are told apart from duplicates; an older one counts as out of order. */
export const SEQUENCE_WINDOW = 4_096;

/** How often what is due is published. */
export const TICK_MS = 5;

/** How often the page hears of a run. */
export const SNAPSHOT_INTERVAL_MS = 250;

/** Connections that are being opened at a time. */
export const OPENING_MAX = 10;

/** After the last message was published: how long a run waits without hearing anything. */
export const DRAIN_SECONDS = 5;

/** The longest latency that is told apart, 60 s. */
export const LATENCY_MICROSECONDS_MAX = 60_000_000;
