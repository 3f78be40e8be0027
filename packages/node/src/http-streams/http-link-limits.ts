/** Random bytes of a link's key: 128 bits cannot be guessed. */
export const KEY_BYTES = 16;

/** Bytes of the first line of a request: its kind, a key with the name of a process, and two counts. */
export const LINE_BYTES_MAX = 512;

/** Bytes of one POST behind its first line. A client has one POST under way; a further one takes its place. */
export const POST_BYTES_MAX = 64 * 1024;

/** Bytes that a link has sent and that its client has not confirmed: they may have to be sent again. */
export const UNCONFIRMED_BYTES_MAX = 128 * 1024;

/** The same for all links of a process. While it fills, each link may have fewer. */
export const UNCONFIRMED_TOTAL_BYTES_MAX = 64 * 1024 * 1024;

/** A response ends after this time, before proxies cut it: many do so after 30 seconds. */
export const RESPONSE_MS_MAX = 25_000;

/** The time that a link lives without a response on which it can send. */
export const SILENCE_MS_MAX = 30_000;
