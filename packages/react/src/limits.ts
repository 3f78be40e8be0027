/** Components are told of changes once in this time, in milliseconds: no screen shows more. */
export const FRAME_MS = 16;

/** Messages that `useMessages` keeps, if its `limit` does not say otherwise. */
export const MESSAGES_MAX = 100;

/** Topics that `useLatest` keeps, and members that `usePresence` keeps; the one that changed first goes. */
export const TOPICS_MAX = 10_000;

/** Subscription Identifiers begin here: `resume` of @apus/client gives those from 10,000 on. */
export const FIRST_IDENTIFIER = 1_000_000;
