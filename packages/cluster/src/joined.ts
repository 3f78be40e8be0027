import type { ClusterContext } from '@apus/node';
import {
  type Engine,
  HeldCounts,
  type Membership,
  type ValkeyPresence,
  type ValkeyStores,
  ValkeyStreams,
} from '@apus/store-valkey';
import { keepUp } from './connect-engine.ts';
import type { RemoteRoutes } from './remote-routes.ts';
import { ClusterRooms, subscriberCount } from './rooms.ts';
import type { SharedBans } from './shared-bans.ts';
import { SharedCounts } from './shared-counts.ts';
import type { SharedTenants } from './shared-tenants.ts';
import { type Others, sendAll } from './tell-all.ts';

/** The parts that a process opens before it takes part in the cluster. */
export interface Joined {
  readonly engine: Engine;
  readonly membership: Membership;
  readonly stores: ValkeyStores;
  readonly others: Others;
  readonly bans: SharedBans;
  readonly tenants: SharedTenants | undefined;
  readonly context: ClusterContext;
  /** Resolves when the process can no longer take part. */
  readonly failed: Promise<Error>;
  readonly fail: (error: Error) => void;
}

/** The streams in the engine, which are looked at again whenever it is back. */
export function openStreams({ engine, membership, context }: Joined): ValkeyStreams {
  const streams = new ValkeyStreams(engine, membership);
  if (context.streams !== undefined) keepUp(streams, engine, context.log);
  return streams;
}

export function createRooms(
  { membership, stores, others, context }: Joined,
  store: ValkeyPresence,
  remote: RemoteRoutes,
): ClusterRooms {
  return new ClusterRooms({
    ...{ store, bus: others.bus, me: membership.me, log: context.log, clock: context.clock },
    graceSeconds: context.presenceGraceSeconds,
    subscribersHere: (tenant, topic) => subscriberCount(stores.subscriptions.match(tenant, topic)),
    processesWith: (tenant, topic) => remote.processesWith(tenant, topic).size,
  });
}

/** Counts that all processes hold together; after a break of the engine this one says again how many are its own. */
export function shareCounts({ engine, membership, stores, others, context }: Joined): SharedCounts {
  const counts = new SharedCounts(
    new HeldCounts(engine, membership),
    stores.sessions.holdings,
    context.clock,
    context.log,
    (count) => void sendAll(others, { type: 'spare', count }).catch(() => {}),
  );
  engine.onReconnect(() => counts.reaffirm());
  return counts;
}
