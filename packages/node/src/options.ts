import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type BrokerLimits,
  type BrokerOptions,
  DEFAULT_LIMITS,
} from '@apus/broker';
import { API_KEY_LENGTH_MIN, type ApiAccess, apiAccess } from './api/access.ts';
import { anonymousAuthenticator, everythingAllowed } from './auth/anonymous.ts';
import { isLoopbackHost } from './auth/loopback.ts';
import { DEFAULT_NODE_LIMITS, type NodeLimits } from './limits.ts';
import { type LogLevel, type LogSink, stderrSink } from './log.ts';
import { type Scheduler, systemScheduler } from './scheduler.ts';
import { StartError } from './start-error.ts';

/** Web pages whose WebSockets are accepted: by origin, those of this machine, or all. */
export type AllowedOrigins = 'any' | 'loopback' | readonly string[];

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Options of `startNode`: the limits of the broker and of the door, and the choices below. */
export interface NodeOptions extends Optional<BrokerLimits>, Optional<NodeLimits> {
  /** Address to listen at. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** 0: any free port. @default 8083 */
  readonly port?: number | undefined;
  /**
   * Opens the gateway door too, at this port of the same host: the Lambda handlers behind an emulator of API Gateway.
   * 0: any free port. @default none
   */
  readonly gatewayPort?: number | undefined;
  /**
   * Seconds that the will of a lost connection of the gateway door waits at least, as its DISCONNECT may still be under
   * way. For tests that have no time. @default 5
   */
  readonly gatewayLossGraceSeconds?: number | undefined;
  /**
   * Where sessions that outlive their connection, their queues and retained messages survive the process; made when
   * it is not there. One process at a time. @default none: all is in memory
   */
  readonly dataDirectory?: string | undefined;
  /** @default 'one' */
  readonly overlapping?: BrokerOptions['overlapping'] | undefined;
  /** Response Information for clients that ask for it; `%c` becomes the client identifier. @default none */
  readonly responseInformation?: string | undefined;
  /** @default anybody, on a loopback address only */
  readonly authenticator?: Authenticator | undefined;
  /** @default everything is allowed */
  readonly authorizer?: Authorizer | undefined;
  /** @default none: CONNECT with an Authentication Method is answered 0x8C */
  readonly authenticationMethods?: readonly AuthenticationMethod[] | undefined;
  /** Lets anybody in from other machines too. @default false */
  readonly allowAnonymous?: boolean | undefined;
  /** @default 'loopback' while anybody is let in, else 'any' */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /**
   * Answers `/counters` to programs on this machine: what the gateway door's emulator has counted, and what this
   * process has used. @default false
   */
  readonly counters?: boolean | undefined;
  /**
   * Opens `/api/v5` to whoever shows this key (`Authorization: Bearer KEY`).
   * @default none: it is open to this machine, and closed where clients have to show who they are or other machines
   * can connect
   */
  readonly apiKey?: string | undefined;
  /** @default 'error' */
  readonly logLevel?: LogLevel | undefined;
  /** @default standard error */
  readonly logSink?: LogSink | undefined;
  /** @default the system's time and timers */
  readonly clock?: Scheduler | undefined;
}

export interface ResolvedOptions {
  readonly host: string;
  readonly port: number;
  readonly gatewayPort: number | undefined;
  readonly gatewayLossGraceSeconds: number | undefined;
  readonly dataDirectory: string | undefined;
  readonly broker: BrokerOptions;
  readonly limits: NodeLimits;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly authenticationMethods: readonly AuthenticationMethod[];
  readonly allowedOrigins: AllowedOrigins;
  readonly counters: boolean;
  readonly apiAccess: ApiAccess;
  readonly logLevel: LogLevel;
  readonly logSink: LogSink;
  readonly clock: Scheduler;
}

/** Every default that is not a limit, in one place. */
export function resolveOptions(options: NodeOptions): ResolvedOptions {
  const host = options.host ?? '127.0.0.1';
  checkAnonymous(host, options);
  const broker: BrokerOptions = {
    limits: withDefaults(DEFAULT_LIMITS, options),
    overlapping: options.overlapping ?? 'one',
    responseInformation: options.responseInformation,
    ephemeralSessionsKeep: 'everything',
    lossGraceSeconds: 0,
  };
  return {
    host,
    port: options.port ?? 8083,
    gatewayPort: options.gatewayPort,
    gatewayLossGraceSeconds: options.gatewayLossGraceSeconds,
    dataDirectory: options.dataDirectory,
    broker,
    limits: withDefaults(DEFAULT_NODE_LIMITS, options),
    authenticator: options.authenticator ?? anonymousAuthenticator,
    authorizer: options.authorizer ?? everythingAllowed,
    authenticationMethods: options.authenticationMethods ?? [],
    allowedOrigins: options.allowedOrigins ?? (isProtected(options) ? 'any' : 'loopback'),
    counters: options.counters ?? false,
    apiAccess: accessOf(options.apiKey, isLoopbackHost(host) && !isProtected(options)),
    logLevel: options.logLevel ?? 'error',
    logSink: options.logSink ?? stderrSink,
    clock: options.clock ?? systemScheduler,
  };
}

/** A client has to show who it is, or the operator has said that it need not. */
function isProtected(options: NodeOptions): boolean {
  return options.authenticator !== undefined || options.allowAnonymous === true;
}

function checkAnonymous(host: string, options: NodeOptions): void {
  if (isProtected(options) || isLoopbackHost(host)) return;
  throw new StartError(
    `At ${host} other machines can reach this broker, and nobody would be asked for a password. ` +
      'Give a users file (--users FILE), or say that anybody may come in (--allow-anonymous).',
  );
}

function accessOf(key: string | undefined, isOpenToThisMachineOnly: boolean): ApiAccess {
  if (key === undefined || key.length >= API_KEY_LENGTH_MIN) return apiAccess(key, isOpenToThisMachineOnly);
  throw new StartError(
    `The key of the API has ${key.length} characters and needs ${API_KEY_LENGTH_MIN}: \`openssl rand -base64 24\` makes one.`,
  );
}

function withDefaults<T extends object>(defaults: T, options: NodeOptions): T {
  const given: Readonly<Record<string, unknown>> = { ...options };
  const entries = Object.entries(defaults).map(([name, value]) => [name, given[name] ?? value]);
  return Object.fromEntries(entries) as T;
}
