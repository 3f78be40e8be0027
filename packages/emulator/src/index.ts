export { type Clock, systemClock } from './clock.ts';
export type { CountersSnapshot, InvocationTally, MessageTally } from './counters.ts';
export type { Credentials } from './credentials.ts';
export * from './dynamodb/index.ts';
export type {
  AuthorizerContext,
  AuthorizerEvent,
  AuthorizerResult,
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
} from './events.ts';
export type { Chance, Checkpoint, CutPoint, Delay, FaultName, Faults, ManagementCall } from './faults.ts';
export type {
  AuthorizerHandlers,
  CreateEnvironment,
  Environment,
  Handler,
  Handlers,
  LambdaContext,
} from './lambda.ts';
export { DEFAULT_LIMITS, type EmulatorLimits } from './limits.ts';
export { ManualClock } from './manual-clock.ts';
export type { AuthorizerOptions, EmulatorOptions, FunctionOptions, RouteOptions } from './options.ts';
export { type Emulator, startEmulator } from './start-emulator.ts';
