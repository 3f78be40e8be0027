/** Bounds of the broker's work for one hook. */
export interface HookLimits {
  /** From the question to the whole answer, in ms, with the wait for a free place and a second try. */
  readonly timeoutMs: number;
  /** Bytes of one answer. */
  readonly answerBytesMax: number;
  readonly concurrentRequestsMax: number;
  /** Questions that wait for a free place. One more is not asked. */
  readonly waitingRequestsMax: number;
}

/** At the node door. */
export const DEFAULT_HOOK_LIMITS: HookLimits = {
  // A client waits for its CONNACK meanwhile; stock clients give up after 30 s.
  timeoutMs: 5_000,
  // A list of a few hundred rules. An answer is kept with its connection.
  answerBytesMax: 64 * 1024,
  // As many as a small server of HTTP bears, each request being a hash of a password or a query of a database.
  concurrentRequestsMax: 64,
  // All clients of a node that come back after a restart, at some 200 bytes each.
  waitingRequestsMax: 10_000,
};

/** In Lambda a handler lives five seconds, and has to post and save after the last answer. */
export const CLOUD_HOOK_TIMEOUT_MS = 2_000;

/** Failures in a row after which a hook is left alone. */
export const FAILURES_MAX = 5;

/** How long a hook that fails is left alone: as long as one request may take, so that a dead one costs at most two. */
export const REST_MS = 5_000;

/** How often the log says that a hook does not answer. */
export const LOG_INTERVAL_MS = 60_000;
