export * from '@apus/emulator';
export * from './dynamodb/index.ts';
export type {
  SqsBatchResponse,
  SqsEvent,
  SqsRecord,
  SqsRecordMessageAttribute,
} from './event-source/events.ts';
export type { EventSourceFunction, EventSourceOptions } from './event-source/options.ts';
export {
  createSqs,
  type QueueNames,
  type Sqs,
  type SqsOptions,
  type StandaloneSqs,
} from './sqs/create-sqs.ts';
export type { SqsCall, SqsEntry, SqsFaults, SqsMessage, SqsReceive } from './sqs/faults.ts';
export { DEFAULT_SQS_LIMITS, type SqsLimits } from './sqs/limits.ts';
export type { QueueOptions, RedriveOptions } from './sqs/queue-options.ts';
export type { SqsCaller, SqsRequestHandler } from './sqs/request-handler.ts';
export type { Depth } from './sqs/shelf.ts';
export type { SqsRequestTally, SqsSnapshot } from './sqs/tally.ts';
export {
  type CountersSnapshot,
  type Emulator,
  type EmulatorOptions,
  type Faults,
  type InProcessEmulator,
  startEmulator,
  startInProcess,
} from './start.ts';
