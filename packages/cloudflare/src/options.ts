import {
  type AuthenticationMethod,
  type Authenticator,
  type Authorizer,
  type BrokerLimits,
  type BrokerOptions,
  DEFAULT_LIMITS,
  type GivenQuotaScopes,
  type GivenStream,
  type Log,
  type QuotaScopes,
  quotasForPlaces,
  readStreams,
  SparingLog,
  type StreamDeclarations,
  withQuotas,
} from '@apus/broker';
import type { AllowedOrigins } from '@apus/door';
import type { IdentityConfiguration } from '@apus/identity';
import { type Access, openAccess } from './access.ts';
import { awakeScheduler } from './alarm-clock.ts';
import { consoleLog } from './console-log.ts';
import type { HubUsers } from './hub-users.ts';
import {
  ATTACHMENT_BYTES_MAX,
  EVENTS_PER_SECOND_MAX,
  MEMORY_BYTES_MAX,
  PENDING_PER_ADDRESS_MAX,
  SOCKETS_MAX,
  UNREAD_TOTAL_BYTES_MAX,
  WEB_SOCKET_MESSAGE_BYTES_MAX,
} from './limits.ts';
import type { LinkLimits } from './links/object-link.ts';

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

export interface HubLimits extends LinkLimits {
  readonly connectTimeoutSeconds: number;
  readonly tenantQueueBytesMax: number;
  readonly connectionsMax: number;
  readonly pendingPerAddressMax: number;
  readonly unreadTotalBytesMax: number;
  /** What the stores may count. */
  readonly memoryBytesMax: number;
  /** How long the state of a link waits where it is not saved at once. Until then the object is awake. */
  readonly quietMs: number;
  /** A link whose saved state is larger goes into rows instead of the attachment of its socket. */
  readonly attachmentBytesMax: number;
}

export const DEFAULT_HUB_LIMITS: Omit<HubLimits, 'maximumPacketSize'> = {
  connectBytesMax: 128 * 1024,
  inboundBufferBytesMax: 256 * 1024,
  outboundBufferBytesMax: 1024 * 1024,
  connectTimeoutSeconds: 10,
  tenantQueueBytesMax: 0,
  connectionsMax: SOCKETS_MAX,
  pendingPerAddressMax: PENDING_PER_ADDRESS_MAX,
  unreadTotalBytesMax: UNREAD_TOTAL_BYTES_MAX,
  memoryBytesMax: MEMORY_BYTES_MAX,
  webSocketMessageBytesMax: WEB_SOCKET_MESSAGE_BYTES_MAX,
  quietMs: 500,
  attachmentBytesMax: ATTACHMENT_BYTES_MAX,
};

/** Options of a hub: the limits of the broker and of the door, and the choices below. */
export interface HubOptions extends Optional<BrokerLimits>, Optional<HubLimits> {
  readonly streams?: readonly GivenStream[] | undefined;
  /** @default those of a node with as many places */
  readonly quotas?: GivenQuotaScopes | undefined;
  readonly overlapping?: BrokerOptions['overlapping'] | undefined;
  readonly responseInformation?: string | undefined;
  readonly presenceGraceSeconds?: number | undefined;
  /** The clients that may connect, as `--identity` of a node reads it. It takes the place of the three below. @default all clients */
  readonly identity?: IdentityConfiguration | undefined;
  /** The text of each file that `identity` names: an object has none. */
  readonly files?: Readonly<Record<string, string>> | undefined;
  /** Web pages that may connect. @default any */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** @default all clients */
  readonly authenticator?: Authenticator | undefined;
  /** @default what the rules of each identity say; everything where there is no authenticator either */
  readonly authorizer?: Authorizer | undefined;
  readonly authenticationMethods?: readonly AuthenticationMethod[] | undefined;
  readonly log?: Log | undefined;
}

export interface ResolvedHub {
  readonly broker: BrokerOptions;
  readonly limits: HubLimits;
  readonly streams: StreamDeclarations | undefined;
  readonly quotas: QuotaScopes;
  readonly access: Access;
  readonly allowedOrigins: AllowedOrigins;
  readonly log: SparingLog;
}

export function resolveHub(options: HubOptions, users: HubUsers): ResolvedHub {
  const limits = withDefaults(DEFAULT_LIMITS, options);
  const { streams, presenceGraceSeconds, connectionsMax = SOCKETS_MAX } = options;
  const log = new SparingLog(options.log ?? consoleLog, awakeScheduler);
  return {
    broker: {
      limits,
      overlapping: options.overlapping ?? 'one',
      responseInformation: options.responseInformation,
      ephemeralSessionsKeep: 'everything',
      lossGraceSeconds: 0,
      presenceGraceSeconds,
    },
    limits: { ...withDefaults(DEFAULT_HUB_LIMITS, options), maximumPacketSize: limits.maximumPacketSize },
    streams: streams === undefined || streams.length === 0 ? undefined : readStreams(streams, 'streams'),
    quotas: withQuotas(quotasOf({ ...limits, connectionsMax }), options.quotas),
    access: openAccess(options, awakeScheduler, log, users),
    allowedOrigins: options.allowedOrigins ?? 'any',
    log,
  };
}

/** Those of a node with as many places, at the rate of an object. */
function quotasOf(room: Parameters<typeof quotasForPlaces>[0]): QuotaScopes {
  const { identity, ...others } = quotasForPlaces(room);
  return { ...others, identity: { ...identity, framesPerSecondMax: EVENTS_PER_SECOND_MAX } };
}

function withDefaults<T extends object>(defaults: T, options: HubOptions): T {
  const given: Readonly<Record<string, unknown>> = { ...options };
  return Object.fromEntries(
    Object.entries(defaults).map(([name, value]) => [name, given[name] ?? value]),
  ) as T;
}
