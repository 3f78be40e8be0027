/** Messages that a connection's log holds: ten seconds of the heaviest stream that the client is made for. */
export const MESSAGES_MAX = 50_000;

/** Bytes that they may take, objects included: a browser tab with several connections stays below a few hundred MiB. */
export const MESSAGES_BYTES_MAX = 64 * 1024 * 1024;

/** Packets in the timeline of a connection. */
export const PACKETS_MAX = 5_000;

/** Bytes of packets in the timeline. */
export const PACKETS_BYTES_MAX = 8 * 1024 * 1024;
