export { type Clock, systemClock } from './clock/clock.ts';
export { ManualClock } from './clock/manual-clock.ts';
export type { CountersSnapshot, InvocationTally, MessageTally } from './counters.ts';
export type { Chance, Checkpoint, CutPoint, Delay, FaultName, Faults, ManagementCall } from './faults.ts';
export type { Doorkeeper } from './gateway/doorkeeper.ts';
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
export { type Emulator, startEmulator } from './start-emulator.ts';
export { type InProcessEmulator, type ManagementRequest, startInProcess } from './start-in-process.ts';
