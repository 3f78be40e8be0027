/** Bytes of a file: as much as a log of messages takes in base64, with room for other fields. */
export const FILE_BYTES_MAX = 128 * 1024 * 1024;

/** Messages of a file: as many as the log of a connection holds, so that every export can be read. */
export const MESSAGES_MAX = 50_000;

/** Connections of a file. */
export const CONNECTIONS_MAX = 1_000;

/** Subscriptions of a file: as many as a profile that came from outside may have. */
export const SUBSCRIPTIONS_MAX = 1_000;

/** Publishes of a replay without their acknowledgement: above it the replay waits for the server. */
export const REPLAY_OUTSTANDING_MAX = 500;

/** How often a replay looks for due messages, in milliseconds. */
export const REPLAY_TICK_MS = 20;

/** How often its progress is reported, in milliseconds. */
export const REPLAY_PROGRESS_MS = 200;

/** Messages that a replay without a pace publishes at a time, so that no frame waits for it. */
export const REPLAY_BATCH_MAX = 200;

/** Messages in one piece, when messages are converted to text or come from the worker that reads files. */
export const PIECE_MESSAGES = 500;

/** A piece also ends after this many bytes of payload. */
export const PIECE_BYTES = 1024 * 1024;
