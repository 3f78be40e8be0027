import { type Clock, Dice, Random, randomSeed, systemClock } from '@apus/emulator/service';
import { clientConfigOf, type SdkClientConfig } from './client-config.ts';
import { DynamoDbCounters, type DynamoDbSnapshot } from './counters.ts';
import type { DynamoDbFaultName, DynamoDbFaults } from './faults.ts';
import { PARTITION_READ_UNITS_PER_SECOND, PARTITION_WRITE_UNITS_PER_SECOND } from './limits.ts';
import { PartitionLimits } from './partition-limits.ts';
import { type CallingEnvironment, createRequestHandler, type SdkRequestHandler } from './request-handler.ts';
import { Service } from './service.ts';
import { Tables } from './storage/tables.ts';
import { TransactionTokens } from './transaction-tokens.ts';
import { Transport } from './transport.ts';

/** The limits of DynamoDB that a test may set. */
export interface DynamoDbLimits {
  /** Read units of one partition key in a second, by the clock. @default Infinity; DynamoDB has 3,000 */
  readonly partitionReadUnitsPerSecond?: number;
  /** The same for writes. @default Infinity; DynamoDB has 1,000 */
  readonly partitionWriteUnitsPerSecond?: number;
}

/** DynamoDB's throttle of a partition, for `DynamoDbOptions.limits`. */
export const DYNAMODB_PARTITION_LIMITS: Required<DynamoDbLimits> = {
  partitionReadUnitsPerSecond: PARTITION_READ_UNITS_PER_SECOND,
  partitionWriteUnitsPerSecond: PARTITION_WRITE_UNITS_PER_SECOND,
};

export interface DynamoDbOptions {
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** The source of every random choice; print it when a run fails. @default a random one */
  readonly seed?: number;
  readonly faults?: DynamoDbFaults;
  readonly limits?: DynamoDbLimits;
  /**
   * How long after an item has expired TTL deletes it. DynamoDB promises "within a few days"; reads return an expired
   * item until then.
   * @default Infinity: never
   */
  readonly timeToLiveSeconds?: number;
}

export interface DynamoDb {
  /**
   * For `new DynamoDBClient({ requestHandler })`. Calls of an execution environment pass the checkpoints
   * `dynamodb:UpdateItem:before` and `:after` (with the name of the operation), wait while it is frozen, and neither
   * take effect nor return once it is dead.
   */
  requestHandler(environment?: CallingEnvironment): SdkRequestHandler;
  /** The complete options: `new DynamoDBClient(dynamoDb.clientConfig())` is ready, and faster. */
  clientConfig(environment?: CallingEnvironment): SdkClientConfig;
  readonly counters: { snapshot(): DynamoDbSnapshot; reset(): void };
  /** Start with this seed again to repeat the choices. */
  readonly seed: number;
}

/**
 * A DynamoDB in memory that the AWS SDK talks to without a socket, strict where AWS's documentation is.
 *
 * ```ts
 * const dynamoDb = createDynamoDb({ seed: 1 });
 * const client = new DynamoDBClient(dynamoDb.clientConfig());
 * ```
 */
export function createDynamoDb(options: DynamoDbOptions = {}): DynamoDb {
  const { clock = systemClock, seed = randomSeed(), limits = {} } = options;
  const random = new Random(seed);
  const counters = new DynamoDbCounters();
  const service = new Service({
    clock,
    random,
    dice: new Dice<DynamoDbFaultName>(random.fork(), (name) => counters.event(name)),
    faults: options.faults ?? {},
    counters,
    tables: new Tables(),
    transactionTokens: new TransactionTokens(clock),
    partitionLimits: new PartitionLimits(clock, {
      read: limits.partitionReadUnitsPerSecond ?? Number.POSITIVE_INFINITY,
      write: limits.partitionWriteUnitsPerSecond ?? Number.POSITIVE_INFINITY,
    }),
    timeToLiveSeconds: options.timeToLiveSeconds ?? Number.POSITIVE_INFINITY,
  });
  const transport = new Transport(service);
  const requestHandler = (environment?: CallingEnvironment) => createRequestHandler(transport, environment);
  return {
    requestHandler,
    clientConfig: (environment) => clientConfigOf(requestHandler(environment)),
    counters,
    seed,
  };
}
