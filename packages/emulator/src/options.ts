import type { Clock } from './clock/clock.ts';
import { systemClock } from './clock/clock.ts';
import { randomSeed } from './clock/random.ts';
import type { Faults } from './faults.ts';
import type { CreateFunction } from './gateway/create-gateway.ts';
import type { Doorkeeper } from './gateway/doorkeeper.ts';
import type { RouteEvent } from './gateway/events.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { UpgradeRequest } from './gateway/read-handshake.ts';
import type { ScheduleOptions } from './lambda/schedule.ts';
import type { AuthorizerHandlers, CreateEnvironment, Handler, Handlers } from './lambda/types.ts';
import { DEFAULT_LIMITS, type EmulatorLimits } from './limits.ts';
import type { IamCaller } from './signature/iam-caller.ts';

export interface FunctionOptions {
  /** @default 'apus' */
  readonly functionName?: string;
  /** The memory by which GB-seconds are counted. @default 512 */
  readonly memoryMegabytes?: number;
  /**
   * The function's timeout, at which its environment dies.
   * @default 5000
   */
  readonly timeoutMs?: number;
  /** How long INIT takes beyond what `createEnvironment` itself takes. @default 0 */
  readonly coldStartMs?: number;
  /**
   * Which idle environment is used next: the one used last, or a random one.
   * @default 'lifo'
   */
  readonly reuse?: 'lifo' | 'random';
  /** The function's own environment variables. */
  readonly variables?: Readonly<Record<string, string>>;
}

export interface AuthorizerOptions extends FunctionOptions {
  readonly createEnvironment: CreateEnvironment<AuthorizerHandlers>;
  /**
   * `route.request.header.Name` and `route.request.querystring.name`. A handshake without one of them is answered
   * 401, and the authorizer is not asked.
   */
  readonly identitySources?: readonly string[];
}

/** A function without a trigger of its own: `emulator.invoke` runs it. */
export interface InvokedFunction extends FunctionOptions {
  /** Unique among these. */
  readonly functionName: string;
  readonly createEnvironment: CreateEnvironment<Handler<unknown, unknown>>;
}

export interface RouteOptions {
  /** Whether the body of the handler's result is sent to the caller. */
  readonly routeResponse: boolean;
  /** The route has a MOCK integration: no function is invoked. Only without a route response. @default false */
  readonly mock?: boolean;
}

/** The answer to a handshake that is refused. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly reason: string;
}

/** A service beside the functions. */
export interface Attached {
  stop(): void;
}

export interface EmulatorOptions {
  readonly createEnvironment: CreateEnvironment<Handlers>;
  /** A Lambda function of its own, asked before `$connect`. */
  readonly authorizer?: AuthorizerOptions;
  /**
   * Asks for AWS_IAM at `$connect`: a handshake has to be signed by one of them (Signature Version 4, in the query or
   * in the Authorization header). A route has one kind of authorisation: this, or `authorizer`.
   */
  readonly iamCallers?: readonly IamCaller[];
  readonly lambda?: FunctionOptions;
  /** @default '127.0.0.1' */
  readonly host?: string;
  /** @default 0: any free one */
  readonly port?: number;
  /** The path of both URLs. @default 'mqtt' */
  readonly stage?: string;
  /** @default 'us-east-1' */
  readonly region?: string;
  /** @default '123456789012' */
  readonly accountId?: string;
  /** @default 'a1b2c3d4e5' */
  readonly apiId?: string;
  /** In events. @default host and port of the emulator */
  readonly domainName?: string;
  /** The routes for messages. @default { $default: { routeResponse: true } } */
  readonly routes?: Readonly<Record<string, RouteOptions>>;
  /** `$request.body.` and the names of nested properties. @default '$request.body.action' */
  readonly routeSelectionExpression?: string;
  /** Whether an empty body is sent, and billed, as an empty frame. AWS's behaviour is not known. @default false */
  readonly emptyReplySendsFrame?: boolean;
  /** Whether a protocol-level ping resets the idle timer. AWS's behaviour is not known. @default false */
  readonly pingResetsIdle?: boolean;
  /**
   * Whether a message over 32 KB to a client arrives in several frames. AWS's behaviour is not known.
   * @default false
   */
  readonly splitLargeMessages?: boolean;
  /**
   * How a throttled client is told. The developer guide has 1008 "when an endpoint receives too many requests from a
   * particular client", and 429 "Too Many Requests" in general; a WebSocket has no status, so an error frame carries
   * it.
   * @default 'close'
   */
  readonly throttledMessage?: 'close' | 'error-frame';
  /**
   * The client's IP address, as `$connect` gets it, or the refusal of the handshake before `$connect`.
   * @default the address of the socket
   */
  readonly sourceOf?: (request: UpgradeRequest) => string | HandshakeRefusal;
  /** How names of headers reach `$connect`. @default 'as-sent' */
  readonly headerNames?: 'as-sent' | 'lower-case' | 'random-case';
  /** Adds another service to the account, whose events may invoke functions: the queues of `@apus/emulated-aws`. */
  readonly attach?: ((gateway: Gateway, createFunction: CreateFunction) => Attached) | undefined;
  /** Functions that are invoked at fixed rates. */
  readonly schedules?: readonly ScheduleOptions[];
  /** Functions for `emulator.invoke`: for a bridge between Lambda and a service that the emulator does not have. */
  readonly functions?: readonly InvokedFunction[];
  readonly faults?: Faults;
  /** @default the first `connectionsMax` connections get the places */
  readonly doorkeeper?: Doorkeeper | undefined;
  readonly limits?: Partial<EmulatorLimits>;
  /** @default the machine's */
  readonly clock?: Clock;
  /**
   * The time by which signatures are checked: clients sign by the machine's clock, even when `clock` is another.
   * @default Date.now
   */
  readonly signatureNow?: () => number;
  /**
   * The source of every random choice; print it when a run fails. The same seed also gives the same ids and
   * credentials. Without it those come from the system's generator, since they are secrets if clients are real.
   * @default a random one
   */
  readonly seed?: number;
  /** The errors of the function's log: errors of handlers, timeouts, results of the wrong shape. */
  readonly onInvocationError?: (error: Error, event: RouteEvent | undefined) => void;
  /**
   * A client's message is finished: its reply, if there is one, is on the client's socket. `requestId`: that of its
   * event.
   */
  readonly onAnswered?: (requestId: string) => void;
}

export type FunctionSettings = Required<FunctionOptions>;

/** The options with every default filled in. */
export interface Settings
  extends Required<
    Omit<
      EmulatorOptions,
      'attach' | 'authorizer' | 'iamCallers' | 'doorkeeper' | 'domainName' | 'lambda' | 'limits'
    >
  > {
  readonly attach: EmulatorOptions['attach'];
  readonly authorizer: AuthorizerOptions | undefined;
  readonly iamCallers: readonly IamCaller[] | undefined;
  readonly doorkeeper: Doorkeeper | undefined;
  readonly domainName: string | undefined;
  readonly lambda: FunctionSettings;
  readonly limits: EmulatorLimits;
  /** Whether the seed was given. */
  readonly hasSeededIds: boolean;
}

export function functionSettings(options: FunctionOptions = {}, functionName = 'apus'): FunctionSettings {
  return {
    functionName: options.functionName ?? functionName,
    memoryMegabytes: options.memoryMegabytes ?? 512,
    timeoutMs: options.timeoutMs ?? 5_000,
    coldStartMs: options.coldStartMs ?? 0,
    reuse: options.reuse ?? 'lifo',
    variables: options.variables ?? {},
  };
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  stage: 'mqtt',
  region: 'us-east-1',
  accountId: '123456789012',
  apiId: 'a1b2c3d4e5',
  routes: { $default: { routeResponse: true } },
  routeSelectionExpression: '$request.body.action',
  emptyReplySendsFrame: false,
  pingResetsIdle: false,
  splitLargeMessages: false,
  throttledMessage: 'close',
  sourceOf: ({ socket }: UpgradeRequest) => socket.remoteAddress ?? '',
  headerNames: 'as-sent',
  schedules: [],
  functions: [],
  faults: {},
  clock: systemClock,
  signatureNow: Date.now,
  onInvocationError: () => {},
  onAnswered: () => {},
} as const;

export function resolveOptions(options: EmulatorOptions): Settings {
  if (options.authorizer !== undefined && options.iamCallers !== undefined)
    throw new Error('$connect has one kind of authorisation: an authorizer, or iamCallers');
  return {
    ...DEFAULTS,
    ...options,
    attach: options.attach,
    authorizer: options.authorizer,
    iamCallers: options.iamCallers,
    doorkeeper: options.doorkeeper,
    domainName: options.domainName,
    seed: options.seed ?? randomSeed(),
    hasSeededIds: options.seed !== undefined,
    lambda: functionSettings(options.lambda),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  };
}
