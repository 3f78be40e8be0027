import type { Chance, Delay } from '@apus/emulator/service';
import type { Item } from './values/attribute-value.ts';

/** A call to DynamoDB, as a fault sees it. */
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

/** The faults, and how often each strikes. By default none does. */
export interface DynamoDbFaults {
  /**
   * Calls take effect in a random order, a few turns of the event loop late. Calls that wait for each other keep their
   * order.
   */
  readonly shuffle?: Chance<DynamoDbCall>;
  /** The time from call to answer; the effect is somewhere in between. */
  readonly latencyMs?: Delay<DynamoDbCall>;
  /** Refused before any effect: ProvisionedThroughputExceededException, or ThrottlingException. */
  readonly throttle?: Chance<DynamoDbCall>;
  /** InternalServerError (500) before any effect. */
  readonly fails?: Chance<DynamoDbCall>;
  /** InternalServerError (500) although the call took effect. */
  readonly failsAfterwards?: Chance<DynamoDbCall>;
  /**
   * Refused before any effect, as if a transaction on the same item were in progress: a write of one item with
   * TransactionConflictException, a transaction with TransactionCanceledException. Calls here are atomic, so conflicts
   * come only from this fault.
   */
  readonly conflict?: Chance<DynamoDbCall>;
  /** The call took effect, and the connection broke before the answer: a TimeoutError. */
  readonly answerLost?: Chance<DynamoDbCall>;
  /** A key of a batch is returned as unprocessed. If all are, the whole batch is throttled. */
  readonly unprocessed?: Chance<DynamoDbCall>;
  /** An eventually consistent read sees each item as it was before its last write. */
  readonly staleRead?: Chance<DynamoDbCall>;
}

export type DynamoDbFaultName = keyof DynamoDbFaults;
