/** The least time between two updates of components, in milliseconds: no screen shows more. */
export const FRAME_MS = 16;

/** Messages that `useMessages` keeps if `limit` does not say otherwise. */
export const MESSAGES_MAX = 100;

/**
 * Topics that `useLatest` keeps, and members that `usePresence` keeps; above it, the one that changed first is dropped.
 */
export const TOPICS_MAX = 10_000;

/** Subscription Identifiers begin here: `resume` of @apus/client uses those from 10,000 on. */
export const FIRST_IDENTIFIER = 1_000_000;
