import type {
  Awaitable,
  Broker,
  Clock,
  Connections,
  QuotaScopes,
  SparingLog,
  StreamDeclarations,
} from '@apus/broker';
import type { DropMeter, RateQuota } from '@apus/door';
import type { MemoryBudget } from '@apus/store-memory';
import type { UsersFile } from '../auth/access.ts';
import type { BanKeeper } from '../ban-keeper.ts';
import type { RunningRules } from '../bridges/bridges.ts';
import type { Links } from '../links.ts';
import type { Observer } from '../observing/observer.ts';
import type { LocalStores } from '../stores.ts';
import type { TenantKeeper } from '../tenant-keeper.ts';
import type { NodeTopics } from '../topics.ts';
import type { TrafficMeter } from '../traffic-meter.ts';
import type { NodeUsage } from '../usage/node-usage.ts';

/** Everything that the routes read and call. */
export interface ApiContext {
  /** `NODE_NAME`, or in a cluster the name of this process. */
  readonly nodeName: string;
  readonly stores: LocalStores;
  readonly bans: BanKeeper;
  /** Undefined: the node keeps no register of tenants. */
  readonly tenants: TenantKeeper | undefined;
  readonly broker: Broker;
  /** Connections of both doors. */
  readonly connections: Connections;
  /** Links of the node door. */
  readonly links: Links;
  readonly meter: TrafficMeter;
  readonly observer: Observer;
  readonly drops: DropMeter;
  readonly payloads: NodeTopics['payloads'] | undefined;
  readonly usage: NodeUsage;
  readonly usersFiles: readonly UsersFile[];
  readonly memory: Pick<MemoryBudget, 'bytes' | 'bytesMax' | 'queuedBytes'>;
  /** The status of each bridge of a tenant. */
  readonly bridges: (tenant: string) => Awaitable<readonly object[]>;
  readonly rules: () => RunningRules | undefined;
  readonly clock: Clock;
  readonly log: SparingLog;
  readonly startedAtMs: number;
  readonly uptimeMs: () => number;
  /** Undefined: no streams are declared. */
  readonly streams: StreamDeclarations | undefined;
  /** Quotas of every identity; an identity may have exceptions. */
  readonly quotas: QuotaScopes;
  readonly rates: Pick<RateQuota, 'deliveriesOfLastMinute'>;
  readonly limits: {
    readonly connectionsMax: number;
    readonly retainedMessagesMax: number;
    readonly maximumPacketSize: number;
    readonly topicLevelsMax: number;
  };
}
