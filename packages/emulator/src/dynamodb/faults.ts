import type { Chance, Delay } from '../faults.ts';
import type { Item } from './values/attribute-value.ts';

/** A call on DynamoDB, as a fault sees it. */
export interface DynamoDbCall {
  /** Such as `UpdateItem`. */
  readonly operation: string;
  /** The one table, or the first of a batch or a transaction. */
  readonly table: string | undefined;
  /** The key, if the call names one; for a transaction the key of its first action. */
  readonly key: Item | undefined;
  /** Absent for a caller outside Lambda. */
  readonly environmentId: string | undefined;
}

/** The faults that may strike, and how often. None does by default. */
export interface DynamoDbFaults {
  /**
   * Calls take effect in a random order, a few turns of the event loop late. Calls that wait for each other keep
   * their order.
   */
  readonly shuffle?: Chance<DynamoDbCall>;
  /** From call to answer; the effect is somewhere in between. */
  readonly latencyMs?: Delay<DynamoDbCall>;
  /** Refused before any effect: ProvisionedThroughputExceededException, or ThrottlingException. */
  readonly throttle?: Chance<DynamoDbCall>;
  /** InternalServerError (500) before any effect. */
  readonly fails?: Chance<DynamoDbCall>;
  /** InternalServerError (500) although it took effect. */
  readonly failsAfterwards?: Chance<DynamoDbCall>;
  /**
   * Refused before any effect, as a transaction on the same item is under way: a write of one item with
   * TransactionConflictException, a transaction with TransactionCanceledException. Calls here are atomic, so that
   * conflicts come by this fault alone.
   */
  readonly conflict?: Chance<DynamoDbCall>;
  /** It took effect, and the connection broke before the answer: a TimeoutError. */
  readonly answerLost?: Chance<DynamoDbCall>;
  /** For each key of a batch: it comes back as unprocessed. When all do, the whole batch is throttled. */
  readonly unprocessed?: Chance<DynamoDbCall>;
  /** A read that is not strongly consistent sees what it reads as it was before the last write of each item. */
  readonly staleRead?: Chance<DynamoDbCall>;
}

export type DynamoDbFaultName = keyof DynamoDbFaults;
