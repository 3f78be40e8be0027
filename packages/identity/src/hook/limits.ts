/** Limits of the broker's work for one hook. */
export interface HookLimits {
  /** From the question to the complete answer, in ms, including the wait for a free place and a second try. */
  readonly timeoutMs: number;
  /** Bytes of one answer. */
  readonly answerBytesMax: number;
  readonly concurrentRequestsMax: number;
  /** Questions that wait for a free place. Further ones are refused. */
  readonly waitingRequestsMax: number;
}

/** At the node door. */
export const DEFAULT_HOOK_LIMITS: HookLimits = {
  // A client waits for its CONNACK meanwhile; stock clients give up after 30 s.
  timeoutMs: 5_000,
  // A list of a few hundred rules. An answer is kept with its connection.
  answerBytesMax: 64 * 1024,
  // About as many as a small HTTP server handles if each request hashes a password or queries a database.
  concurrentRequestsMax: 64,
  // All clients of a node that reconnect after a restart, at some 200 bytes each.
  waitingRequestsMax: 10_000,
};

/** In Lambda a handler lives for five seconds, and has to post and save after the last answer. */
export const CLOUD_HOOK_TIMEOUT_MS = 2_000;

/** Failures in a row after which no request is sent for a while. */
export const FAILURES_MAX = 5;

/**
 * How long no request is sent after failures: as long as one request may take, so that a dead hook costs at most twice
 * that.
 */
export const REST_MS = 5_000;

/** How often the log says that a hook does not answer. */
export const LOG_INTERVAL_MS = 60_000;
