import type { Awaitable, SparingLog } from '@apus/broker';
import type { ApiSources } from '@apus/door';
import type { MemoryBudget } from '@apus/store-memory';
import type { UsersFile } from '../auth/access.ts';
import type { RunningRules } from '../bridges/bridges.ts';
import type { Observer } from '../observing/observer.ts';
import type { TenantKeeper } from '../tenant-keeper.ts';
import type { NodeUsage } from '../usage/node-usage.ts';

/** Everything that the routes read and call. */
export interface ApiContext extends ApiSources {
  /** Undefined: the node keeps no register of tenants. */
  readonly tenants: TenantKeeper | undefined;
  readonly observer: Observer;
  readonly usage: NodeUsage;
  readonly usersFiles: readonly UsersFile[];
  readonly memory: Pick<MemoryBudget, 'bytes' | 'bytesMax' | 'queuedBytes'>;
  /** The status of each bridge of a tenant. */
  readonly bridges: (tenant: string) => Awaitable<readonly object[]>;
  readonly rules: () => RunningRules | undefined;
  readonly log: SparingLog;
  readonly startedAtMs: number;
}
