export type { SdkClientConfig } from './client-config.ts';
export type { DynamoDbSnapshot, DynamoDbTally } from './counters.ts';
export {
  createDynamoDb,
  DYNAMODB_PARTITION_LIMITS,
  type DynamoDb,
  type DynamoDbLimits,
  type DynamoDbOptions,
} from './create-dynamodb.ts';
export type { DynamoDbCall, DynamoDbFaultName, DynamoDbFaults } from './faults.ts';
export type { CallingEnvironment, SdkRequestHandler } from './request-handler.ts';
