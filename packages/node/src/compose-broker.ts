import { randomBytes } from 'node:crypto';
import { NODE_NAME } from '@apus/api';
import {
  type Broker,
  Conflation,
  type ConflationMemory,
  type Connections,
  createBroker,
  type DueTimer,
  type Log,
  type Memory,
} from '@apus/broker';
import {
  DELAYED_LIMITS,
  type DropMeter,
  KeptMessages,
  LoadedConditions,
  LocalDelayedMessages,
  LocalTimers,
  meteredBroker,
  meteredConnections,
  PresenceTicker,
  type RateQuota,
  type Tracer,
  type TrafficMeter,
  tracedBroker,
  tracedConnections,
  tracedSubscriptions,
  UsersChanges,
} from '@apus/door';
import { LocalHoldingQuota } from '@apus/store-memory';
import type { Access } from './auth/access.ts';
import type { NodeBridges } from './bridges/node-bridges.ts';
import type { Cluster } from './cluster.ts';
import type { NodeConnections } from './connections.ts';
import { DoorConnections } from './door-connections.ts';
import type { GatewayDoor, SharedPorts } from './gateway.ts';
import { gatewaySource } from './handshake.ts';
import type { ResolvedOptions } from './options.ts';
import { GatewayFrameQuota } from './quotas/gateway-frame-quota.ts';
import { SharedDelayedMessages } from './shared-delays.ts';
import type { OpenedStores } from './stores.ts';

/** How the broker reaches clients, bridges and other processes. */
export interface Outward {
  readonly node: NodeConnections;
  readonly outlet: NodeBridges | undefined;
  /** To the other processes. */
  readonly cluster: Pick<Cluster, 'fanOut' | 'feed' | 'rooms' | 'holdings' | 'delays'> | undefined;
  /** Undefined where no traces are asked for. */
  readonly tracer: Tracer | undefined;
}

export interface Composition {
  readonly broker: Broker;
  /** The connections of both doors. */
  readonly connections: Connections;
  readonly timers: LocalTimers;
  readonly ticker: PresenceTicker;
  readonly delays: LocalDelayedMessages | SharedDelayedMessages;
  readonly gateway: GatewayDoor | undefined;
  readonly usersChanges: UsersChanges;
  readonly conditions: LoadedConditions;
}

export interface CompositionOptions {
  readonly options: ResolvedOptions;
  readonly access: Access;
  readonly opened: OpenedStores;
  readonly memory: Memory & ConflationMemory;
  readonly outward: Outward;
  readonly log: Log;
  readonly meter: TrafficMeter;
  readonly drops: DropMeter;
  readonly rateQuota: RateQuota;
}

/** Makes the broker over the stores, with the gateway door if one is asked for. */
export async function composeBroker(composition: CompositionOptions): Promise<Composition> {
  const { options, opened, outward, log, meter } = composition;
  const { clock } = options;
  const { node, cluster, tracer } = outward;
  const timers: LocalTimers = new LocalTimers(clock, (due) => fire(broker, due, log));
  const ticker: PresenceTicker = new PresenceTicker(clock, log, (tenant, room) =>
    cluster === undefined ? broker.tellRoom(tenant, room) : cluster.rooms.tick(tenant, room),
  );
  const delays = createDelays(composition);
  const usersChanges = new UsersChanges(opened.stores.sessions, composition.access.authorizer, clock, log);
  const conditions = new LoadedConditions();
  if (opened.hasConditions) await conditions.load();
  const ports = createPorts(composition, { timers, ticker, delays, usersChanges, conditions });
  const watch = watched(meter, tracer);
  const gateway = await openGateway(composition, ports, watch).catch(async (error: unknown) => {
    await opened.close();
    throw error;
  });
  const doors = gateway === undefined ? node : new DoorConnections(node, gateway.connections);
  const connections = watch.connections(doors);
  const broker: Broker = watch.broker(createBroker({ ...ports, connections }, options.broker));
  if (opened.lastMessageId !== undefined) broker.messageClock.observe(opened.lastMessageId);
  timers.restore(opened.dueTimers);
  return { broker, connections, timers, ticker, delays, gateway, usersChanges, conditions };
}

function createDelays({ options, opened, outward, log }: CompositionOptions): Composition['delays'] {
  const kept = new KeptMessages(opened.stores.retained, 'delayed', DELAYED_LIMITS);
  const delayed = { kept, clock: options.clock, log, quotas: options.quotas.identity };
  const { cluster } = outward;
  if (cluster === undefined) return new LocalDelayedMessages(delayed);
  return new SharedDelayedMessages({ ...delayed, due: cluster.delays });
}

/** The ports of the brokers of both doors, but for their connections. */
function createPorts(
  { options, access, opened, memory, outward, log, drops, rateQuota }: CompositionOptions,
  {
    timers,
    ticker,
    delays,
    usersChanges,
    conditions,
  }: Pick<Composition, 'timers' | 'ticker' | 'delays' | 'usersChanges' | 'conditions'>,
): SharedPorts {
  const { clock } = options;
  const { outlet, cluster, tracer } = outward;
  const presence = { store: opened.stores.presenceStore, ticks: ticker };
  return {
    ...opened.stores,
    ...(tracer && { subscriptions: tracedSubscriptions(opened.stores.subscriptions, tracer) }),
    delays,
    ...(cluster === undefined
      ? { presence }
      : {
          fanOut: cluster.fanOut,
          presence: { ...presence, hand: cluster.rooms.hand, audienceOf: cluster.rooms.audienceOf },
        }),
    ...(options.streams !== undefined && {
      streams: {
        declared: options.streams,
        store: opened.stores.streamStore,
        ...(cluster !== undefined && { isShared: true, feed: cluster.feed }),
      },
    }),
    nodeName: NODE_NAME,
    ...(outlet !== undefined && { outlet }),
    ...(options.topics !== undefined && { payloads: options.topics.payloads }),
    memory,
    deliveryQuota: rateQuota,
    drops,
    holdingQuota: new LocalHoldingQuota({
      quotas: options.quotas,
      quotasHere: options.quotasHere,
      holdings: opened.stores.sessions.holdings,
      weightOf: (session) => opened.stores.subscriptions.weight(session),
      shared: cluster?.holdings,
    }),
    timers,
    conflation: new Conflation(clock, memory),
    conditions,
    clock,
    log,
    authenticator: access.authenticator,
    authenticationMethods: new Map(access.authenticationMethods.map((method) => [method.name, method])),
    authorizer: access.authorizer,
    changedRights: usersChanges,
    bans: opened.bans,
    randomId: () => randomBytes(12).toString('base64url'),
  };
}

/** Measures packets as they come and go. */
interface Watch {
  broker(broker: Broker): Broker;
  connections(connections: Connections): Connections;
}

function watched(meter: TrafficMeter, tracer: Tracer | undefined): Watch {
  return {
    broker(broker) {
      const metered = meteredBroker(broker, meter);
      return tracer === undefined ? metered : tracedBroker(metered, tracer);
    },
    connections(connections) {
      const metered = meteredConnections(connections, meter);
      return tracer === undefined ? metered : tracedConnections(metered, tracer);
    },
  };
}

async function openGateway(
  { options, access, outward, log, rateQuota }: CompositionOptions,
  ports: SharedPorts,
  watch: Watch,
): Promise<GatewayDoor | undefined> {
  const { openGateway: open, host, broker, allowedOrigins, limits, addresses, clock } = options;
  const { handshakes } = access;
  const { node } = outward;
  return await open?.({
    ...{ host, ports, broker, allowedOrigins, handshakes, limits, addresses, clock, log },
    sourceOf: (request) => gatewaySource(request, options, log),
    frameQuota: new GatewayFrameQuota(rateQuota, clock),
    makeBroker(gateway, brokerOptions, state) {
      const connections = watch.connections(new DoorConnections(node, gateway));
      return watch.broker(createBroker({ ...ports, connections }, brokerOptions, state));
    },
  });
}

async function fire(broker: Broker, { timer, dueAtMs }: DueTimer, log: Log): Promise<void> {
  try {
    await broker.fire(timer, dueAtMs);
  } catch (error) {
    log.error('timer-failed', { kind: timer.kind, clientId: timer.session.clientId, error: String(error) });
  }
}
