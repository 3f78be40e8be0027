/** Messages of one request: posted one after another, they are done well within the function's 29 s. */
export const BULK_MESSAGES_MAX = 100;

/** Bytes of a request's body. Lambda takes events of 6 MB, in which each quotation mark of the body takes two. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;

/** A token bucket: `burst` requests at once, and `perSecond` from then on. */
export interface RequestRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Requests of one caller. A backend that waits for each answer sends 50 to 100 a second; more belong into bulks. */
export const CALLER_RATE: RequestRate = { perSecond: 100, burst: 200 };

/** Requests of all callers that one environment takes. Twice one caller's, so that no caller uses up all of it. */
export const ENVIRONMENT_RATE: RequestRate = { perSecond: 200, burst: 400 };

/** Requests of one caller that read streams or rooms: each may read a megabyte and more. */
export const READING_RATE: RequestRate = { perSecond: 10, burst: 20 };

/** Requests of all callers that read, which one environment takes. */
export const READING_ENVIRONMENT_RATE: RequestRate = { perSecond: 20, burst: 40 };

/** Requests of one address that are refused for their key with 401. A backend whose key was replaced sends a few. */
export const UNAUTHORIZED_RATE: RequestRate = { perSecond: 1, burst: 30 };

/** Addresses, and callers, whose requests are counted; some 100 bytes each. */
export const LIMITED_KEYS_MAX = 10_000;

/** Seconds after which a request that met a busy broker may come again. */
export const RETRY_AFTER_SECONDS = 1;
