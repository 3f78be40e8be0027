/** Bytes of a file: as much as a log of messages takes in base64, with room for other fields. */
export const FILE_BYTES_MAX = 128 * 1024 * 1024;

/** Messages of a file: as many as the log of a connection holds, so that every export can be read. */
export const MESSAGES_MAX = 50_000;

/** Connections of a file. */
export const CONNECTIONS_MAX = 1_000;

/** Messages in one piece, when messages are converted to text or come from the worker that reads files. */
export const PIECE_MESSAGES = 500;

/** A piece also ends after this many bytes of payload. */
export const PIECE_BYTES = 1024 * 1024;
