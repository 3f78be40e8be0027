import type { ClusterContext } from '@apus/node';
import { keepUp } from './connect-engine.ts';
import type { RemoteRoutes } from './remote-routes.ts';
import { ClusterRooms, subscriberCount } from './rooms.ts';
import type { SharedBans } from './shared-bans.ts';
import { SharedCounts } from './shared-counts.ts';
import type { SharedTenants } from './shared-tenants.ts';
import {
  type Engine,
  HeldCounts,
  type Membership,
  type ValkeyPresence,
  type ValkeyStores,
  ValkeyStreams,
} from './store/index.ts';
import { type Others, sendAll } from './tell-all.ts';

export interface JoinOptions {
  /**
   * No other process uses the engine: the sessions of former processes are taken over at once, and not when their
   * leases end.
   *
   * @default false
   */
  readonly isFirst?: boolean | undefined;
  /**
   * Bytes of the streams of one tenant in the engine; beyond it a message for a stream is refused (0x97).
   *
   * @default half of the engine's `maxmemory`, or 1 GiB where it has none
   */
  readonly streamBytesMax?: number | undefined;
}

/** The parts that a process opens before it takes part in the cluster. */
export interface Joined {
  readonly engine: Engine;
  readonly membership: Membership;
  readonly stores: ValkeyStores;
  readonly others: Others;
  readonly bans: SharedBans;
  readonly tenants: SharedTenants | undefined;
  readonly context: ClusterContext;
  readonly streamBytesMax: number | undefined;
  /** Resolves when the process can no longer take part. */
  readonly failed: Promise<Error>;
  readonly fail: (error: Error) => void;
}

/** The streams in the engine, which are looked at again whenever it is back. */
export function openStreams({ engine, membership, context, streamBytesMax }: Joined): ValkeyStreams {
  const streams = new ValkeyStreams(engine, membership, streamBytesMax, context.streams?.all);
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
