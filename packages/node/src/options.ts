import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type BrokerLimits,
  type BrokerOptions,
  DEFAULT_LIMITS,
  type GivenQuotaScopes,
  type GivenStream,
  NODE_QUOTAS,
  type QuotaScopes,
  quotasForPlaces,
  readStreams,
  type StreamDeclarations,
  withQuotas,
} from '@apus/broker';
import {
  type AllowedOrigins as GatewayOrigins,
  isLoopbackHost,
  LOOPBACK_ORIGINS,
  originProblem,
  type Scheduler,
  systemScheduler,
} from '@apus/door';
import {
  checkCookieOrigins,
  type IdentityConfiguration,
  type TenantStore,
  type WatchedUsersFile,
} from '@apus/identity';
import { API_KEY_LENGTH_MIN, type ApiAccess, apiAccess } from './api/access.ts';
import type { OpenBridges } from './bridges/bridges.ts';
import type { OpenCluster } from './cluster.ts';
import type { OpenGateway } from './gateway.ts';
import { DEFAULT_NODE_LIMITS, type NodeLimits } from './limits.ts';
import type { CertificateFiles, ClientAuthorities } from './listening/certificates.ts';
import type { ListenAddress } from './listening/listen-address.ts';
import { type LogLevel, type LogSink, stderrSink } from './log.ts';
import { SYS_HEARTBEAT_SECONDS, SYS_INTERVAL_SECONDS, type SysTopicsOptions } from './metrics/sys-topics.ts';
import { PeerAddresses } from './peer-address.ts';
import { StartError } from './start-error.ts';
import type { NodeTopics } from './topics.ts';
import type { TracesOptions } from './traces.ts';

/** Web pages whose WebSockets are accepted at both doors: pages of these origins, of this machine, or all. */
export type AllowedOrigins = 'any' | 'loopback' | readonly string[];

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Options of `startNode`: the limits of the broker and of the door, and the choices below. */
export interface NodeOptions extends Optional<BrokerLimits>, Optional<NodeLimits> {
  /** Address to listen at. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** 0: any free port. @default 8083 */
  readonly port?: number | undefined;
  /** Further addresses to listen at: `parseListenAddress` reads one. @default none */
  readonly listen?: readonly ListenAddress[] | undefined;
  /** For the addresses with TLS: each with the names that it is for. @default none */
  readonly certificates?: readonly CertificateFiles[] | undefined;
  /** Whose certificates of clients are taken there. @default clients are not asked for one */
  readonly clientAuthorities?: ClientAuthorities | undefined;
  /** Opens a gateway door of the same broker. @default none */
  readonly openGateway?: OpenGateway | undefined;
  /** Starts bridges to other systems. @default none */
  readonly openBridges?: OpenBridges | undefined;
  /**
   * Makes this process one of a cluster: `openCluster` of `@apus/cluster`. A data directory and a gateway door are for
   * a node that stands alone (docs/cluster.md).
   * @default none
   */
  readonly openCluster?: OpenCluster | undefined;
  /** The folder of the web client's files. @default none: the page says that it has not been built */
  readonly pageDirectory?: string | undefined;
  /**
   * Where sessions that outlive their connection, their queues and retained messages survive the process; made when
   * it is not there. One process at a time. @default none: all is in memory
   */
  readonly dataDirectory?: string | undefined;
  /**
   * Keeps the register of tenants: `/api/v5/tenants` changes it, and identities get the plans of their tenants.
   * @default none
   */
  readonly tenants?: TenantStore | undefined;
  /** Quotas of one identity, of one tenant, and of all together. @default `quotasForPlaces` */
  readonly quotas?: GivenQuotaScopes | undefined;
  /** Topics whose messages are kept for those who come later (docs/streams.md). @default none */
  readonly streams?: readonly GivenStream[] | undefined;
  /**
   * Describes topics to developers, and checks payloads (docs/portal.md): `readTopicsFile` of `@apus/topics`.
   * @default none
   */
  readonly topics?: NodeTopics | undefined;
  /** Sends traces of messages whose publishers ask for it (docs/observability.md). @default none */
  readonly traces?: TracesOptions | undefined;
  /**
   * How long a member of a room stays whose client was lost (docs/presence.md).
   * @default 5, or the Will Delay Interval
   */
  readonly presenceGraceSeconds?: number | undefined;
  /** @default 'one' */
  readonly overlapping?: BrokerOptions['overlapping'] | undefined;
  /** Response Information for clients that ask for it; `%c` becomes the client identifier. @default none */
  readonly responseInformation?: string | undefined;
  /**
   * The clients that may connect, and their rules, at both doors: `readIdentity` and `parseIdentity` read one. It takes
   * the place of `authenticator`, `authorizer`, `authenticationMethods` and `usersFile`.
   *
   * @default all clients, on a loopback address only
   */
  readonly identity?: IdentityConfiguration | undefined;
  /** Reads the secrets that `identity` names by ARN. @default none: an identity that names one is refused */
  readonly readSecret?: ((arn: string) => Promise<string>) | undefined;
  /** @default all clients, on a loopback address only */
  readonly authenticator?: Authenticator | undefined;
  /** Is read again when it changes, as long as the node runs. @default none */
  readonly usersFile?: WatchedUsersFile | undefined;
  /**
   * @default what the rules of each identity, or of `usersFile`, say; everything where there is no authenticator either
   */
  readonly authorizer?: Authorizer | undefined;
  /** @default none: CONNECT with an Authentication Method is answered 0x8C */
  readonly authenticationMethods?: readonly AuthenticationMethod[] | undefined;
  /** Accepts all clients from other machines too. @default false */
  readonly allowAnonymous?: boolean | undefined;
  /** @default 'loopback' while all clients may connect, else 'any' */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /**
   * Proxies before the doors whose `X-Forwarded-For` is trusted, as IP addresses or networks (`10.0.0.0/8`).
   * @default none: behind a proxy all clients have its address, and share the limits of that address
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * Answers `/counters` to programs on this machine: the gateway door's counts, and the resources that this process has
   * used. @default false
   */
  readonly counters?: boolean | undefined;
  /**
   * Opens `/api/v5` to callers that show this key (`Authorization: Bearer KEY`).
   * @default none: it is open to this machine, and closed where clients have to show who they are or other machines
   * can connect
   */
  readonly apiKey?: string | undefined;
  /** Opens it to callers that look and change nothing. Goes with `apiKey`. @default none */
  readonly apiViewerKey?: string | undefined;
  /**
   * Into how many shares the machine's memory is divided, of which this process has one: other processes of the same
   * command have the rest. Without effect where `memoryBytesMax` is given. @default 1
   */
  readonly memoryShares?: number | undefined;
  /** Seconds between two publications of all figures under `$SYS/brokers/…`; 0: none. @default 60 */
  readonly sysIntervalSeconds?: number | undefined;
  /** Seconds between two publications of uptime and time there; 0: none. @default 30 */
  readonly sysHeartbeatSeconds?: number | undefined;
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
  readonly listen: readonly ListenAddress[];
  readonly certificates: readonly CertificateFiles[];
  readonly clientAuthorities: ClientAuthorities;
  readonly openGateway: OpenGateway | undefined;
  readonly openBridges: OpenBridges | undefined;
  readonly openCluster: OpenCluster | undefined;
  readonly pageDirectory: string | undefined;
  readonly dataDirectory: string | undefined;
  readonly broker: BrokerOptions;
  readonly streams: StreamDeclarations | undefined;
  readonly topics: NodeTopics | undefined;
  readonly traces: TracesOptions | undefined;
  readonly limits: NodeLimits;
  readonly quotas: QuotaScopes;
  /** The same, with shares of this process alone: others of a cluster have places, too. */
  readonly quotasHere: QuotaScopes;
  readonly tenants: TenantStore | undefined;
  readonly identity: IdentityConfiguration | undefined;
  readonly readSecret: ((arn: string) => Promise<string>) | undefined;
  readonly authenticator: Authenticator | undefined;
  readonly usersFile: WatchedUsersFile | undefined;
  readonly authorizer: Authorizer | undefined;
  readonly authenticationMethods: readonly AuthenticationMethod[];
  readonly allowedOrigins: GatewayOrigins;
  readonly addresses: PeerAddresses;
  /** No client has to show who it is, so only programs of this machine may connect. */
  readonly isOpenToThisMachineOnly: boolean;
  readonly counters: boolean;
  readonly apiAccess: ApiAccess;
  readonly memoryShares: number;
  readonly sys: Pick<SysTopicsOptions, 'intervalSeconds' | 'heartbeatSeconds'>;
  readonly logLevel: LogLevel;
  readonly logSink: LogSink;
  readonly clock: Scheduler;
}

/** Every default that is not a limit, in one place. */
export function resolveOptions(options: NodeOptions): ResolvedOptions {
  const host = options.host ?? '127.0.0.1';
  const listen = options.listen ?? [];
  const hosts = [host, ...listen.map((each) => each.host)];
  for (const each of hosts) checkAnonymous(each, options);
  if (options.openCluster !== undefined) checkCluster(options);
  const limits = withDefaults(DEFAULT_NODE_LIMITS, options);
  const brokerLimits = withDefaults(DEFAULT_LIMITS, options);
  const quotasHere = withQuotas(quotasForPlaces({ ...limits, ...brokerLimits }), options.quotas);
  const addresses = new PeerAddresses(options.trustedProxies ?? []);
  const isOpenToThisMachineOnly = hosts.every(isLoopbackHost) && !isProtected(options);
  const broker: BrokerOptions = {
    limits: brokerLimits,
    overlapping: options.overlapping ?? 'one',
    responseInformation: options.responseInformation,
    ephemeralSessionsKeep: 'everything',
    lossGraceSeconds: 0,
    presenceGraceSeconds: options.presenceGraceSeconds,
  };
  return {
    host,
    port: options.port ?? 8083,
    listen,
    certificates: options.certificates ?? [],
    clientAuthorities: options.clientAuthorities ?? { ca: [], crl: [] },
    openGateway: options.openGateway,
    openBridges: options.openBridges,
    openCluster: options.openCluster,
    pageDirectory: options.pageDirectory,
    dataDirectory: options.dataDirectory,
    broker,
    streams: streamsOf(options),
    topics: options.topics,
    traces: options.traces,
    limits,
    quotas: options.openCluster === undefined ? quotasHere : withQuotas(NODE_QUOTAS, options.quotas),
    quotasHere,
    tenants: options.tenants,
    identity: options.identity,
    readSecret: options.readSecret,
    authenticator: options.authenticator,
    usersFile: options.usersFile,
    authorizer: options.authorizer,
    authenticationMethods: options.authenticationMethods ?? [],
    allowedOrigins: originsOf(options),
    addresses,
    isOpenToThisMachineOnly,
    counters: options.counters ?? false,
    apiAccess: accessOf(options, isOpenToThisMachineOnly, addresses),
    memoryShares: options.memoryShares ?? 1,
    sys: {
      intervalSeconds: options.sysIntervalSeconds ?? SYS_INTERVAL_SECONDS,
      heartbeatSeconds: options.sysHeartbeatSeconds ?? SYS_HEARTBEAT_SECONDS,
    },
    logLevel: options.logLevel ?? 'error',
    logSink: options.logSink ?? stderrSink(),
    clock: options.clock ?? systemScheduler,
  };
}

/** @throws {StartError} */
function streamsOf({ streams }: NodeOptions): StreamDeclarations | undefined {
  if (streams === undefined || streams.length === 0) return undefined;
  try {
    return readStreams(streams, 'streams');
  } catch (error) {
    throw new StartError((error as Error).message, { cause: error });
  }
}

const HOW_TO_ALLOW = '--allow-origin https://app.example';

/** Pages of this machine are in every list: the web client is served from one door and connects to both. */
function originsOf(options: NodeOptions): GatewayOrigins {
  const { identity } = options;
  const allowed = options.allowedOrigins ?? (isProtected(options) ? 'any' : 'loopback');
  const problem = Array.isArray(allowed) ? allowed.map(originProblem).find((each) => each) : undefined;
  if (problem !== undefined) throw new StartError(`--allow-origin: ${problem}.`);
  if (identity !== undefined)
    checkCookieOrigins(identity, allowed === 'loopback' ? 'any' : allowed, HOW_TO_ALLOW);
  if (allowed === 'any') return 'any';
  if (allowed === 'loopback') return [LOOPBACK_ORIGINS];
  // Any program of this machine can serve a page, and no such page may act with the cookie of its reader.
  return identity?.cookie === undefined ? [...allowed, LOOPBACK_ORIGINS] : allowed;
}

/** Whether clients have to authenticate, or the operator has allowed anonymous ones. */
function isProtected(options: NodeOptions): boolean {
  const { identity, authenticator, allowAnonymous } = options;
  return identity !== undefined || authenticator !== undefined || allowAnonymous === true;
}

function checkAnonymous(host: string, options: NodeOptions): void {
  if (isProtected(options) || isLoopbackHost(host)) return;
  throw new StartError(
    `At ${host} other machines can reach this broker, and it would ask no client for a password. ` +
      'Give a users file (--users FILE) or a chain of authenticators (--identity FILE), or let every client connect (--allow-anonymous).',
  );
}

/** Refuses what processes do not share yet, so that no client finds it at one process and misses it at another. */
function checkCluster(options: NodeOptions): void {
  const given: readonly (readonly [unknown, string])[] = [
    [options.dataDirectory, 'a data directory (--data): the engine keeps sessions and retained messages'],
    [options.openGateway, 'a gateway door (--gateway-port)'],
  ];
  for (const [value, what] of given)
    if (value !== undefined)
      throw new StartError(
        `Processes that share an engine (--cluster, --workers) cannot be used with ${what}.`,
      );
}

/** @throws {StartError} */
function accessOf(
  { apiKey, apiViewerKey }: NodeOptions,
  isOpenToThisMachineOnly: boolean,
  addresses: PeerAddresses,
): ApiAccess {
  for (const key of [apiKey, apiViewerKey])
    if (key !== undefined && key.length < API_KEY_LENGTH_MIN)
      throw new StartError(
        `A key of the API has ${key.length} characters and needs ${API_KEY_LENGTH_MIN}: \`openssl rand -base64 24\` makes one.`,
      );
  if (apiViewerKey !== undefined && (apiKey === undefined || apiKey === apiViewerKey))
    throw new StartError('--api-viewer-key-file goes with --api-key-file, and has another key.');
  return apiAccess(apiKey, isOpenToThisMachineOnly, addresses, apiViewerKey);
}

function withDefaults<T extends object>(defaults: T, options: NodeOptions): T {
  const given: Readonly<Record<string, unknown>> = { ...options };
  const entries = Object.entries(defaults).map(([name, value]) => [name, given[name] ?? value]);
  return Object.fromEntries(entries) as T;
}
