/** Limits of the broker's work for one hook. */
export interface HookLimits {
  /** From the question to the complete answer, in ms, including the wait for a free place and a second try. */
  readonly timeoutMs: number;
  /** Bytes of one answer. */
  readonly answerBytesMax: number;
  readonly concurrentRequestsMax: number;
  /** Those of one address (logins) or of one identity (authorization). Further ones wait. */
  readonly concurrentRequestsPerHolderMax: number;
  /** Requests a second of one address or identity, after a burst of `PACED_AFTER`. Further ones wait. */
  readonly requestsPerSecondPerHolderMax: number;
  /** Questions that wait for a free place. Beyond it one of the holder with most is refused. */
  readonly waitingRequestsMax: number;
  /** Those of one address or identity. Further ones are refused. */
  readonly waitingRequestsPerHolderMax: number;
}

/** At the node door. */
export const DEFAULT_HOOK_LIMITS: HookLimits = {
  // A client waits for its CONNACK meanwhile; stock clients give up after 30 s.
  timeoutMs: 5_000,
  // A list of a few hundred rules. An answer is kept with its connection.
  answerBytesMax: 64 * 1024,
  // About as many as a small HTTP server handles if each request hashes a password or queries a database.
  concurrentRequestsMax: 64,
  // Half: others are asked at once, however slow the hook is.
  concurrentRequestsPerHolderMax: 32,
  // A request is dearer than a publish: these take a tenth of a processor here, and of a small server.
  requestsPerSecondPerHolderMax: 200,
  // All clients of a node that reconnect after a restart, at some 200 bytes each.
  waitingRequestsMax: 10_000,
  // As many as 32 at a time answer within the timeout at half a second each; and at the gateway door each holds one of
  // 1,000 executions, of which logins and requests of one attacker together leave some 400 to others.
  waitingRequestsPerHolderMax: 256,
};

/** Requests of one holder in a row before they are paced: its clients come back after a restart. */
export const PACED_AFTER = 1_000;

/** Holders whose recent requests are counted; some 150 bytes each. */
export const PACED_HOLDERS_MAX = 10_000;

/** How often those that wait for their pace are looked at. */
export const PACE_MS = 20;

/** Messages that wait for answers, in bytes of their payloads. */
export const QUESTION_BYTES_MAX = 256 * 1024 * 1024;
/** Of what is free, one address or identity may have this part, and always `QUESTION_BYTES_MIN`. */
export const QUESTION_SHARE_OF_FREE = 1 / 4;
export const QUESTION_BYTES_MIN = 64 * 1024;

/** In Lambda a handler lives for five seconds, and has to post and save after the last answer. */
export const CLOUD_HOOK_TIMEOUT_MS = 2_000;

/** Failures in a row of one holder after which it sends no request for a while; and holders, after which none does. */
export const FAILURES_MAX = 5;

/** Holders whose failures are remembered; some 200 bytes each. */
export const FAILED_HOLDERS_MAX = 10_000;

/**
 * How long no request is sent after failures: as long as one request may take, so that a dead hook costs at most twice
 * that.
 */
export const REST_MS = 5_000;

/** How often the log says that a hook does not answer. */
export const LOG_INTERVAL_MS = 60_000;
