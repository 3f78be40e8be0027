/** The counts of one batch of a worker, or of several together. */
export interface FanOutCounts {
  /** Packets handed to the gateway, each to one connection. */
  deliveries: number;
  /** Frames that the gateway took. */
  posts: number;
  slices: number;
  /** Slices repeated that an earlier worker had claimed. */
  repeatedSlices: number;
  /** Connections that were found gone: 410. */
  gone: number;
  /** Posts that were refused: 429. */
  throttled: number;
  /** QoS 0 packets that were dropped. */
  dropped: number;
  /** Connections that were closed because they did not take messages that have to arrive. */
  closed: number;
  /** Jobs that were given up: undecodable, or poison. */
  deadLetters: number;
  /** Jobs that were left for a later batch. */
  handedBack: number;
  /** How long the oldest job had waited when it was received. */
  lagMsMax: number;
  /** From the sending of the oldest job to the end of its last post. */
  latencyMsMax: number;
}

/** Gets the counts of each batch at its end. */
export interface FanOutMetrics {
  record(counts: Readonly<FanOutCounts>): void;
}

export function noCounts(): FanOutCounts {
  return {
    deliveries: 0,
    posts: 0,
    slices: 0,
    repeatedSlices: 0,
    gone: 0,
    throttled: 0,
    dropped: 0,
    closed: 0,
    deadLetters: 0,
    handedBack: 0,
    lagMsMax: 0,
    latencyMsMax: 0,
  };
}
