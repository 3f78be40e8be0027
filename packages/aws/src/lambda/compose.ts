import {
  type BrokerOptions,
  createBroker,
  createProcessState,
  DEFAULT_LIMITS,
  type Streams,
} from '@apus/broker';
import { tracedBroker, tracedSubscriptions } from '@apus/door';
import { createDynamoStores, type DynamoOptions, type DynamoStores } from '@apus/store-dynamodb';
import { Liveness } from '../connections/liveness.ts';
import { LivenessSessions } from '../connections/liveness-sessions.ts';
import { UnclosedConnections } from '../connections/unclosed-connections.ts';
import type { Environment, MakeBroker } from '../environment.ts';
import {
  createEnvironment,
  createRouteHandlers,
  type HandlerOptions,
  type Handlers,
} from '../frames/handlers.ts';
import { ConnectDeadline } from '../handshake/connect-deadline.ts';
import { both } from '../metrics/tenant-meter.ts';
import { CONNECTION_SECONDS_MAX, gatewayBrokerOptions } from '../options.ts';
import type { RoomTicks } from '../timers/room-ticks.ts';
import { EnvironmentUsage } from '../usage/environment-usage.ts';
import type { CloudOptions } from './cloud-options.ts';
import { createPorts, createRooms, createStreams, Quotas } from './compose-ports.ts';

/** A worker lives for 30 s, and a clock may be off. */
const POSTS_WITHIN_MS = 40_000;

/** One execution environment: the stores, the broker over them, and the routes of the WebSocket API. */
export interface Cloud {
  readonly stores: DynamoStores;
  readonly environment: Environment;
  readonly routes: Handlers;
  /** Undefined where usage is not counted. `withMetrics` writes it behind each handler. */
  readonly usage: EnvironmentUsage | undefined;
  /** For the function of the timer queue. Present where it has timers. */
  readonly liveness: Liveness | undefined;
  readonly unclosed: UnclosedConnections | undefined;
  /** Undefined where the owner has declared none. */
  readonly streams: Streams | undefined;
  /** For the function of the timer queue. Undefined where the deployment keeps no presence. */
  readonly ticks: RoomTicks | undefined;
  /** For the operator. Undefined where the deployment keeps no presence. */
  readonly presence: DynamoStores['presence'] | undefined;
}

/** Puts the cloud's broker together. Everything that can be done before the first event is done here. */
export function composeCloud(given: CloudOptions): Cloud {
  const { clock, log, randomId, livenessTimers } = given;
  const unclosed =
    livenessTimers && new UnclosedConnections({ poster: given.poster, timers: livenessTimers, clock, log });
  const poster = unclosed?.poster ?? given.poster;
  const options = { ...given, poster };
  const stores = createStores(options, async (change) => await quotas.holding?.held(change));
  const liveness = livenessTimers && new Liveness({ poster, timers: livenessTimers, clock, log });
  const quotas = new Quotas(options, stores);
  const streams = createStreams(options, stores);
  const rooms = options.presence && createRooms(stores, liveness, options);
  const ports = createPorts(options, stores, quotas, streams, rooms);
  const state = createProcessState(ports);
  const brokerOptions = brokerOptionsOf(options);
  const usage = options.usage
    ? new EnvironmentUsage({ store: stores.usage, environmentId: randomId(), clock, log })
    : undefined;
  const handlerOptions: HandlerOptions = {
    ...options,
    links: stores.links,
    bans: stores.bans,
    connectDeadline: connectDeadlineOf(options, stores),
    makeBroker: brokerMaker(options, stores, liveness, { ports, brokerOptions, state }),
    messageClock: state.messageClock,
    maximumPacketSize: brokerOptions.limits.maximumPacketSize,
    usage: both(usage, options.tenantMeter),
    frameQuota: quotas.frames,
  };
  const environment = createEnvironment(handlerOptions);
  return {
    stores,
    environment,
    routes: createRouteHandlers(environment, handlerOptions),
    usage,
    liveness,
    unclosed,
    streams,
    ticks: rooms?.ticks,
    presence: rooms && stores.presence,
  };
}

function createStores(options: CloudOptions, onHeld: NonNullable<DynamoOptions['onHeld']>): DynamoStores {
  const { tableName, sessionsTableName, clock, sleep, random, randomId } = options;
  const historyTableName = options.streams?.tableName ?? options.presence?.tableName;
  return createDynamoStores({
    client: options.dynamo,
    tableName,
    ...(sessionsTableName !== undefined && { sessionsTableName }),
    ...(historyTableName !== undefined && { streamsTableName: historyTableName }),
    shards: 'leave',
    connectionSecondsMax: CONNECTION_SECONDS_MAX,
    ...{ clock, sleep, random, randomId },
    postsWithinMs: POSTS_WITHIN_MS,
    ...(options.quotas !== undefined && { onHeld }),
    ...options.stores,
  });
}

function brokerOptionsOf({ limits, overlapping = 'one' }: CloudOptions): BrokerOptions {
  return gatewayBrokerOptions({
    limits: { ...DEFAULT_LIMITS, ...limits },
    overlapping,
    responseInformation: undefined,
  });
}

/** The parts of a broker that the events of an environment share. */
interface SharedParts {
  readonly ports: ReturnType<typeof createPorts>;
  readonly brokerOptions: BrokerOptions;
  readonly state: ReturnType<typeof createProcessState>;
}

/** Makes a broker for each event: its stores keep what they have read until the event is over. */
function brokerMaker(
  { tracer }: CloudOptions,
  stores: DynamoStores,
  liveness: Liveness | undefined,
  { ports, brokerOptions, state }: SharedParts,
): MakeBroker {
  const { streams } = ports;
  return (outbox, kind) => {
    const own = stores.forEvent(kind);
    const { connections, jobs, outlet } = outbox;
    const ofEvent = {
      ...own,
      ...(tracer && { subscriptions: tracedSubscriptions(own.subscriptions, tracer) }),
      sessions: liveness === undefined ? own.sessions : new LivenessSessions(own.sessions, liveness),
      connections,
      outbox,
      ...(jobs && { fanOut: jobs }),
      ...(outlet && { outlet }),
      ...(streams && { streams: { ...streams, store: own.streamStore } }),
    };
    const broker = createBroker({ ...ports, ...ofEvent }, brokerOptions, state);
    return { broker: tracer === undefined ? broker : tracedBroker(broker, tracer), stores: own };
  };
}

/** Cuts a connection that does not say in time for whom it is. */
function connectDeadlineOf(
  { poster, clock, log, handshakes, livenessTimers: timers }: CloudOptions,
  { links }: DynamoStores,
): ConnectDeadline | undefined {
  return (
    timers && new ConnectDeadline({ links, poster, timers, isAsked: handshakes !== undefined, clock, log })
  );
}
