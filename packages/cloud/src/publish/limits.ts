import { SERVER_FRAME_BYTES_MAX } from '../text-frame.ts';

/** Messages of one request: posted one after another, they are done well within the function's 29 s. */
export const BULK_MESSAGES_MAX = 100;

/** Bytes of a request's body. Lambda takes events of 6 MB, in which each quotation mark of the body takes two. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;

/** What subscribers may add to a PUBLISH, in bytes: a packet id and a few subscription identifiers. */
const SUBSCRIBER_BYTES = 64;

/** Bytes of the PUBLISH that a message becomes at the gateway door, where a packet is never split over two posts. */
export const PUBLISH_BYTES_MAX = SERVER_FRAME_BYTES_MAX - SUBSCRIBER_BYTES;

/** Characters of a key. 32 of letters and digits hold 190 bits. */
export const KEY_LENGTH_MIN = 32;

/** Keys of one deployment: all are looked at for each request. */
export const KEYS_MAX = 100;

/** Seconds after which a request that met a busy broker may come again. */
export const RETRY_AFTER_SECONDS = 1;
