import type { Clock, Dice, Random } from '@apus/emulator/service';
import type { DynamoDbCounters } from './counters.ts';
import type { DynamoDbFaultName, DynamoDbFaults } from './faults.ts';
import type { PartitionLimits } from './partition-limits.ts';
import type { Tables } from './storage/tables.ts';
import type { TransactionTokens } from './transaction-tokens.ts';

/** The parts that the calls of one DynamoDB share. */
export interface ServiceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly dice: Dice<DynamoDbFaultName>;
  readonly faults: DynamoDbFaults;
  readonly counters: DynamoDbCounters;
  readonly tables: Tables;
  readonly transactionTokens: TransactionTokens;
  readonly partitionLimits: PartitionLimits;
  /** How late TTL deletes; Infinity: never. */
  readonly timeToLiveSeconds: number;
}
