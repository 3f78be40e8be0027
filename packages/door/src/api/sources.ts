import type { KnownDoor } from '@apus/api';
import type {
  Awaitable,
  Ban,
  BanName,
  Broker,
  Clock,
  ConnectionId,
  LinkState,
  Message,
  Peer,
  PresenceStore,
  QueueStore,
  QuotaScopes,
  RetainedStore,
  SessionRecord,
  SessionRef,
  SessionStore,
  StreamDeclarations,
  StreamStore,
  Subscription,
  SubscriptionStore,
  TenantPlan,
} from '@apus/broker';
import type { RateQuota } from '../quotas/rate-quota.ts';
import type { FigureSources } from './metrics.ts';

/** What is held of an identity, or of a tenant. */
interface Held {
  readonly connections: number;
  readonly sessions: number;
  readonly subscriptions: number;
}

/** A member of a room, as operators see it. */
export interface PresentMember {
  readonly member: string;
  readonly now: { readonly payload: Uint8Array } | undefined;
  readonly joinedAtMs: number;
  readonly owners: ReadonlyMap<string, { readonly session: Pick<SessionRef, 'clientId'> }>;
}

/** Stores of one process, of which an operator can list everything. */
export interface ListedStores {
  readonly sessions: Omit<SessionStore, 'get'> & {
    get(tenant: string, clientId: string): SessionRecord | undefined;
    all(): Iterable<SessionRecord>;
    readonly holdings: {
      readonly total: Omit<Held, 'subscriptions'>;
      findTenant(tenant: string): Held | undefined;
    };
  };
  readonly queues: Omit<QueueStore, 'length'> & {
    length(session: SessionRef): number;
    inflight(session: SessionRef): number;
    /** The message that its client has not acknowledged for longest. */
    oldest(session: SessionRef): Message | undefined;
  };
  readonly subscriptions: Omit<SubscriptionStore, 'list'> & {
    list(session: SessionRef): readonly Subscription[];
    /** How many sessions there are. */
    readonly count: number;
    readonly sharedCount: number;
  };
  readonly presenceStore: PresenceStore & {
    members(tenant: string, room: string): Awaitable<Iterable<PresentMember>>;
  };
  readonly retained: RetainedStore & {
    count(tenant: string): number;
    /** Counts the retained messages of all tenants. */
    countAll(): number;
  };
  readonly streamStore: StreamStore;
}

/** A connection, as operators see it. */
export interface ListedLink {
  readonly peer: Peer;
  readonly state: LinkState;
  readonly traffic: Readonly<
    Record<'receivedMessages' | 'receivedBytes' | 'sentMessages' | 'sentBytes', number>
  >;
}

/** The connections of one process. */
export interface ListedLinks {
  readonly size: number;
  get(id: ConnectionId): ListedLink | undefined;
  /** MQTT bytes of all connections since the start. */
  readonly bytes: { readonly receivedBytes: number; readonly sentBytes: number };
}

/** Everything that the answers about one process are read from. */
export interface ApiSources extends Omit<FigureSources, 'stores' | 'links'> {
  /** `NODE_NAME`, or in a cluster the name of this process. */
  readonly nodeName: string;
  readonly stores: ListedStores;
  readonly links: ListedLinks;
  readonly doorOf: (connectionId: ConnectionId) => KnownDoor;
  /** `BanKeeper` is one. */
  readonly bans: {
    all(): readonly Ban[];
    get(name: BanName): Ban | undefined;
    ban(ban: Ban): Promise<boolean>;
    unban(name: BanName): Promise<boolean>;
  };
  readonly broker: Broker;
  readonly memory: { queuedBytes(tenant: string): number };
  readonly clock: Clock;
  readonly uptimeMs: () => number;
  /** Undefined: no streams are declared. */
  readonly streams: StreamDeclarations | undefined;
  /** Quotas of every identity; an identity may have exceptions. */
  readonly quotas: QuotaScopes;
  /** The plan of a tenant, where there is a register of tenants. */
  readonly planOf: (tenant: string) => Awaitable<TenantPlan | undefined>;
  readonly rates: Pick<RateQuota, 'deliveriesOfLastMinute'>;
  readonly limits: {
    readonly connectionsMax: number;
    readonly retainedMessagesMax: number;
    readonly maximumPacketSize: number;
    readonly topicLevelsMax: number;
  };
}
