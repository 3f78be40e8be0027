/** The number of attempts for a message, and the time between them. */
export interface RetryLimits {
  readonly attempts: number;
  readonly firstDelayMs: number;
  readonly delayMsMax: number;
}
