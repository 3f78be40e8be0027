import type { Clock } from '../clock/clock.ts';
import type {
  AuthorizerEvent,
  AuthorizerResult,
  ConnectEvent,
  DisconnectEvent,
  MessageEvent,
  ProxyResult,
} from '../gateway/events.ts';

/** The second argument of a handler, beside the event. */
export interface LambdaContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  /** Text, as Lambda has it. */
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  callbackWaitsForEmptyEventLoop: boolean;
  /** Until the function's timeout, by the emulator's clock. */
  getRemainingTimeInMillis(): number;
}

export type Handler<Event, Result> = (event: Event, context: LambdaContext) => Promise<Result>;

export interface Handlers {
  /** `$connect`: the handshake waits for it, and a status that is not 2xx refuses it. */
  readonly connect: Handler<ConnectEvent, ProxyResult>;
  /** `$default`: every message that selects no other route. */
  readonly default: Handler<MessageEvent, ProxyResult>;
  /** `$disconnect`: after the close, at most once, perhaps never. Its result is ignored. */
  readonly disconnect: Handler<DisconnectEvent, unknown>;
  /** The routes named in the option `routes`, by their keys. */
  readonly routes?: Readonly<Record<string, Handler<MessageEvent, ProxyResult>>>;
}

export interface AuthorizerHandlers {
  readonly authorize: Handler<AuthorizerEvent, AuthorizerResult>;
}

/** One execution environment of a function, as its code sees it. */
export interface Environment {
  /** Unique in this emulator. */
  readonly id: string;
  /** The number of earlier cold starts of this function. */
  readonly coldStart: number;
  /** The variables of `process.env`: Lambda's, with this environment's own credentials, and the option's. */
  readonly variables: Readonly<Record<string, string>>;
  /** Where to post: `${managementEndpoint}/@connections/${encodeURIComponent(connectionId)}`, signed. */
  readonly managementEndpoint: string;
  /** A clock whose timers stand still while the environment is frozen, and fire late when it thaws. */
  readonly clock: Clock;
  /** Aborts when the environment dies: by a timeout, by a fault, or at the emulator's end. */
  readonly signal: AbortSignal;
  /**
   * For a port that the emulator cannot see, such as an in-memory store: await it before and after each call. It waits
   * while the environment is frozen, never returns once it is dead, and `killAtCheckpoint` may strike there.
   */
  checkpoint(name: string): Promise<void>;
}

/** Called once for each execution environment, as a module is loaded once in Lambda's INIT phase. */
export type CreateEnvironment<H> = (environment: Environment) => H | Promise<H>;
