export { type Clock, systemClock } from './clock/clock.ts';
export { ManualClock } from './clock/manual-clock.ts';
export type { CountersSnapshot, InvocationTally, MessageTally } from './counters.ts';
export * from './dynamodb/index.ts';
export type {
  SqsBatchResponse,
  SqsEvent,
  SqsRecord,
  SqsRecordMessageAttribute,
} from './event-source/events.ts';
export type { EventSourceFunction, EventSourceOptions } from './event-source/options.ts';
export type { Chance, Checkpoint, CutPoint, Delay, FaultName, Faults, ManagementCall } from './faults.ts';
export type {
  AuthorizerContext,
  AuthorizerEvent,
  AuthorizerResult,
  CallerIdentity,
  ConnectEvent,
  DisconnectEvent,
  Handshake,
  Headers,
  Identity,
  MessageEvent,
  MultiValueHeaders,
  ProxyResult,
  RequestContext,
  RouteEvent,
} from './gateway/events.ts';
export type { InProcessWebSocket } from './gateway/in-process-door.ts';
export type { Credentials } from './lambda/credentials.ts';
export type { ScheduledEvent, ScheduleFunction, ScheduleOptions } from './lambda/schedule.ts';
export type {
  AuthorizerHandlers,
  CreateEnvironment,
  Environment,
  Handler,
  Handlers,
  LambdaContext,
} from './lambda/types.ts';
export { DEFAULT_LIMITS, type EmulatorLimits } from './limits.ts';
export type {
  AuthorizerOptions,
  EmulatorOptions,
  FunctionOptions,
  InvokedFunction,
  RouteOptions,
} from './options.ts';
export type { IamCaller } from './signature/iam-caller.ts';
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
export { type Emulator, startEmulator } from './start-emulator.ts';
export { type InProcessEmulator, type ManagementRequest, startInProcess } from './start-in-process.ts';
