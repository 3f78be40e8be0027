/** The limits of one worker. Every default has a reason; each is an option. */
export interface FanOutWorkerLimits {
  /** Subscribers of a slice. 500: one write of progress for each, and a repeat after a crash is no longer than that. */
  readonly sliceSubscribersMax: number;
  /**
   * Posts a second of one execution environment: a share of the account's quota that other callers leave (10,000
   * requests a second in all), divided by the number of workers. 500: ten workers take half of the default quota.
   */
  readonly postsPerSecond: number;
  /** A slice is no longer than what the pace lets through in this time: a worker that is slowed down claims less. */
  readonly sliceMsMax: number;
  /**
   * A batch brings up to ten shards. Those behind one that takes longer than this go back to the queue at once, for
   * workers that are free. 1,000: more than the way through the queue takes another worker.
   */
  readonly handOnMs: number;
  /**
   * The time that the function has left when a slice is over: for connections that refuse or are gone, and for handing
   * records back. A worker begins a slice only with this and the slice's own time left, so give the function 30 s.
   */
  readonly reserveMs: number;
  /** How often one claim is taken up again before its jobs count as poison. */
  readonly attemptsMax: number;
  /** After this many its jobs are served one by one: a job that kills its worker then stands alone. */
  readonly attemptsTogetherMax: number;
  /** A job that waited longer says that its filter takes no more for a while (0x97). */
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
