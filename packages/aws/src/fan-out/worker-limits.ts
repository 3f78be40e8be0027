/** The limits of one worker. Every default has a reason; each is an option. */
export interface FanOutWorkerLimits {
  /**
   * Subscribers of a slice. 500: a write of progress for each slice, and a repeat after a crash is no longer than
   * that.
   */
  readonly sliceSubscribersMax: number;
  /**
   * Posts a second of one execution environment: the share of the account's quota (10,000 requests a second) that
   * other callers leave, divided by the number of workers. 500: ten workers take half of the default quota.
   */
  readonly postsPerSecond: number;
  /** A slice is no longer than the pace allows in this time: a worker that is slowed down claims less. */
  readonly sliceMsMax: number;
  /**
   * A batch has up to ten shards. Those behind a shard that takes longer than this go back to the queue at once, for
   * free workers. 1,000: more than another worker needs to receive them.
   */
  readonly handOnMs: number;
  /**
   * The time that the function has left at the end of a slice: for connections that refuse or are gone, and for giving
   * records back. A worker begins a slice only with this and the slice's own time left, so give the function 30 s.
   */
  readonly reserveMs: number;
  /** How often one claim is taken up again before its jobs count as poison. */
  readonly attemptsMax: number;
  /** After this many attempts its jobs are served one by one: a job that kills its worker then stands alone. */
  readonly attemptsTogetherMax: number;
  /** After a job has waited longer its filter is marked as behind: publishers are refused for a while (0x97). */
  readonly lagSecondsMax: number;
}

export const DEFAULT_WORKER_LIMITS: FanOutWorkerLimits = {
  sliceSubscribersMax: 500,
  postsPerSecond: 500,
  sliceMsMax: 2_000,
  handOnMs: 1_000,
  reserveMs: 2_000,
  attemptsMax: 5,
  attemptsTogetherMax: 2,
  lagSecondsMax: 10,
};
