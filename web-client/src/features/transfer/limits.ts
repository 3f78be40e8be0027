/** A file that is read: as much as a log of messages weighs in base64, with room for what stands around it. */
export const FILE_BYTES_MAX = 128 * 1024 * 1024;

/** Messages of a file: as many as the log of a connection holds, so that every export can be read. */
export const MESSAGES_MAX = 50_000;

/** Connections of a file. */
export const CONNECTIONS_MAX = 1_000;

/** Subscriptions of a file: as many as a profile that came from outside may have. */
export const SUBSCRIPTIONS_MAX = 1_000;

/** Publishes of a replay without their acknowledgement: beyond it the replay waits for the server. */
export const REPLAY_OUTSTANDING_MAX = 500;

/** How often a replay looks what is due, in milliseconds. */
export const REPLAY_TICK_MS = 20;

/** How often its progress is told, in milliseconds. */
export const REPLAY_PROGRESS_MS = 200;

/** Messages that a replay without a pace hands over at a time, so that no frame waits for it. */
export const REPLAY_BATCH_MAX = 200;

/** Messages that become text, or come from the worker that reads files, before other things get their turn. */
export const PIECE_MESSAGES = 500;

/** Bytes of payload after which such a piece ends as well. */
export const PIECE_BYTES = 1024 * 1024;
