/** The place of a message in a sequence outside of the broker, whose source may hand it over again. */
export interface MessageOrigin {
  /** Names the sequence: one partition of one topic of Kafka, for example. Never used for another sequence. */
  readonly source: string;
  /** Ascending in the sequence, in which its source hands the messages over: an offset of Kafka. */
  readonly number: number;
  /**
   * The number of a message to the same topic whose append has not been answered: this one is refused unless that one
   * is in the log, so that none overtakes a refused one. @default none is under way
   */
  readonly behind?: number | undefined;
}

/** A topic remembers so many sources of its messages; further ones take the place of those that came first. */
export const ORIGINS_MAX = 1024;
