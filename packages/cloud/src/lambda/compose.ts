import { NODE_NAME } from '@apus/api';
import {
  type Authenticator,
  type Authorizer,
  type BrokerLimits,
  type Clock,
  createBroker,
  createProcessState,
  DEFAULT_LIMITS,
  type Log,
  type PayloadCheck,
  type Presence,
  type QuotaScopes,
  type Streams,
  type Timers,
  type UsageCounter,
} from '@apus/broker';
import { type TokenCheck, tokenMethods } from '@apus/identity';
import { createDynamoStores, type DynamoOptions, type DynamoStores } from '@apus/store-dynamodb';
import { Liveness } from '../connections/liveness.ts';
import { LivenessSessions } from '../connections/liveness-sessions.ts';
import type { Environment, MakeBroker } from '../environment.ts';
import type { FanOutQueue } from '../fan-out/gathered-jobs.ts';
import { createEnvironment, createRouteHandlers, type Handlers } from '../frames/handlers.ts';
import type { AllowedOrigins } from '../handshake/allowed-origins.ts';
import { ConnectDeadline } from '../handshake/connect-deadline.ts';
import type { HandshakeCheck } from '../handshake/handshake-check.ts';
import { type Meter, NO_METER } from '../metrics/meter.ts';
import { both } from '../metrics/tenant-meter.ts';
import { CONNECTION_SECONDS_MAX, gatewayBrokerOptions } from '../options.ts';
import type { Poster } from '../posts/poster.ts';
import { Audiences } from '../quotas/audiences.ts';
import { SharedDeliveryQuota } from '../quotas/delivery-quota.ts';
import { SharedFrameQuota } from '../quotas/frame-quota.ts';
import { SharedHoldingQuota } from '../quotas/holding-quota.ts';
import { SharedMessageQuota } from '../quotas/message-quota.ts';
import { SharedWriteQuota } from '../quotas/write-quota.ts';
import type { RuleQueue } from '../rules/rule-outlet.ts';
import { ConflationTicks } from '../timers/conflation-ticks.ts';
import { SqsDelayedMessages } from '../timers/delayed-messages.ts';
import { RoomTicks } from '../timers/room-ticks.ts';
import type { SqsTimers } from '../timers/sqs-timers.ts';
import { tracedBroker, tracedSubscriptions } from '../tracing/traced.ts';
import type { Tracer } from '../tracing/tracer.ts';
import { EnvironmentUsage } from '../usage/environment-usage.ts';
import type { PresenceSettings, StreamsOptions } from './settings.ts';

/** The options that the functions of a deployment share. A test passes the emulators' clients, clock and randomness. */
export interface CloudOptions {
  readonly dynamo: DynamoOptions['client'];
  readonly tableName: string;
  /** The table of connections, sessions and numbers, which the sweep scans. @default `tableName` */
  readonly sessionsTableName?: string;
  readonly fanOut: FanOutQueue;
  readonly timers: Timers;
  /** Where connections that hold a will have a timer that looks after them. @default they wait for the sweep */
  readonly livenessTimers?: SqsTimers;
  readonly poster: Poster;
  readonly clock: Clock;
  readonly sleep: (ms: number) => Promise<void>;
  readonly random: () => number;
  readonly randomId: () => string;
  readonly log: Log;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Authenticates a handshake. Absent: every handshake is accepted. */
  readonly handshakes?: HandshakeCheck | undefined;
  /** Checks the tokens that AUTH brings. Absent: there is no AUTH. */
  readonly tokens?: TokenCheck | undefined;
  /** Web pages that may connect. @default 'any' */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** The gateway cuts a connection at this age. @default two hours */
  readonly connectionSeconds?: number;
  /** How long after a loss a client may go on with its session; 0: not at all. @default 60 */
  readonly resumeSeconds?: number | undefined;
  /** Milliseconds from a session's move to the cut of its old connection. @default 0: before its subscriptions move */
  readonly cutAfterMs?: number | undefined;
  /** Extensions of the wire that are not taken. @default none */
  readonly withoutExtensions?: readonly string[] | undefined;
  readonly limits?: Partial<BrokerLimits>;
  /** Quotas of one identity, one tenant, and all together. @default any amount */
  readonly quotas?: QuotaScopes | undefined;
  /** @default no metrics */
  readonly meter?: Meter;
  /** @default 'one' */
  readonly overlapping?: 'one' | 'each';
  /** @default none */
  readonly streams?: StreamsOptions | undefined;
  /** Counts what each tenant uses. @default false */
  readonly usage?: boolean | undefined;
  /** Counts the traffic of tenants for metrics. @default it is not counted */
  readonly tenantMeter?: UsageCounter | undefined;
  /** Records the way of messages whose publishers ask for it. @default no traces */
  readonly tracer?: Tracer | undefined;
  /** @default the deployment keeps no presence */
  readonly presence?: PresenceSettings | undefined;
  /** Compares payloads with the schemas of their topics. @default every payload is taken */
  readonly payloads?: PayloadCheck | undefined;
  /** @default there are none */
  readonly rules?: RuleQueue | undefined;
  readonly stores?: Partial<DynamoOptions>;
}

/** A worker lives for 30 s, and a clock may be off. */
const POSTS_WITHIN_MS = 40_000;

/** One execution environment: the stores, the broker over them, and the routes of the WebSocket API. */
export interface Cloud {
  readonly stores: DynamoStores;
  readonly environment: Environment;
  readonly routes: Handlers;
  /** Undefined where usage is not counted. `flushingUsage` writes it behind each handler. */
  readonly usage: EnvironmentUsage | undefined;
  /** For the function of the timer queue. Present where it has timers. */
  readonly liveness: Liveness | undefined;
  /** Undefined where the owner has declared none. */
  readonly streams: Streams | undefined;
  /** For the function of the timer queue. Undefined where the deployment keeps no presence. */
  readonly ticks: RoomTicks | undefined;
  /** For the operator. Undefined where the deployment keeps no presence. */
  readonly presence: DynamoStores['presence'] | undefined;
}

/** Puts the cloud's broker together. Everything that can be done before the first event is done here. */
export function composeCloud(options: CloudOptions): Cloud {
  const { clock, sleep, random, randomId, poster, fanOut, log, handshakes, allowedOrigins = 'any' } = options;
  const { tokens } = options;
  const historyTableName = options.streams?.tableName ?? options.presence?.tableName;
  const stores = createDynamoStores({
    client: options.dynamo,
    tableName: options.tableName,
    ...(options.sessionsTableName !== undefined && { sessionsTableName: options.sessionsTableName }),
    ...(historyTableName !== undefined && { streamsTableName: historyTableName }),
    shards: 'leave',
    connectionSecondsMax: CONNECTION_SECONDS_MAX,
    clock,
    sleep,
    random,
    randomId,
    postsWithinMs: POSTS_WITHIN_MS,
    ...(options.quotas !== undefined && { onHeld: async (change) => await holding?.held(change) }),
    ...options.stores,
  });
  const { livenessTimers, quotas, meter = NO_METER } = options;
  const liveness = livenessTimers && new Liveness({ poster, timers: livenessTimers, clock, log });
  const connectDeadline =
    livenessTimers &&
    new ConnectDeadline({
      ...{ links: stores.links, poster, timers: livenessTimers },
      ...{ isAsked: handshakes !== undefined, clock, log },
    });
  const brokerOptions = gatewayBrokerOptions({
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    overlapping: options.overlapping ?? 'one',
    responseInformation: undefined,
    ephemeralSessionsKeep: 'nothing',
    lossGraceSeconds: 0,
  });
  const methods = tokens === undefined ? [] : tokenMethods(tokens);
  const authenticationMethods = new Map(methods.map((method) => [method.name, method]));
  const shared = quotas && { quotas, accounts: stores.quotaAccounts, clock, log, meter };
  const holding = quotas && new SharedHoldingQuota({ quotas, holdings: stores.quotaHoldings, clock });
  const messages = shared && new SharedMessageQuota(shared);
  const streams: Streams | undefined = options.streams && {
    declared: options.streams.declared,
    store: stores.streams,
    isShared: true,
  };
  const rooms = options.presence && roomsOf(stores, liveness, options);
  const ports = {
    ...(rooms && { presence: rooms.presence, nodeName: NODE_NAME }),
    ...(options.payloads && { payloads: options.payloads }),
    ...(shared &&
      messages && {
        deliveryQuota: new SharedDeliveryQuota({ ...shared, shards: stores.subscriptions, messages }),
        writeQuota: new SharedWriteQuota(shared),
      }),
    ...(holding && { holdingQuota: holding }),
    ...(streams && { streams }),
    ...(livenessTimers && { delays: new SqsDelayedMessages(livenessTimers) }),
    ...(streams &&
      livenessTimers && {
        conflated: new ConflationTicks({
          groups: stores.conflatedGroups,
          timers: livenessTimers,
          clock,
          randomId,
        }),
      }),
    timers: options.timers,
    clock,
    log,
    randomId,
    authenticator: options.authenticator,
    authenticationMethods,
    authorizer: options.authorizer,
    bans: stores.bans,
  };
  const state = createProcessState(ports);
  const makeBroker: MakeBroker = (outbox, kind) => {
    const own = stores.forEvent(kind);
    const sessions = liveness === undefined ? own.sessions : new LivenessSessions(own.sessions, liveness);
    const { connections, jobs, outlet } = outbox;
    const { tracer } = options;
    const ofEvent = {
      ...own,
      ...(tracer && { subscriptions: tracedSubscriptions(own.subscriptions, tracer) }),
      sessions,
      connections,
      outbox,
      ...(jobs && { fanOut: jobs }),
      ...(outlet && { outlet }),
      ...(streams && { streams: { ...streams, store: own.streamStore } }),
    };
    const broker = createBroker({ ...ports, ...ofEvent }, brokerOptions, state);
    return { broker: tracer === undefined ? broker : tracedBroker(broker, tracer), stores: own };
  };
  const usage =
    options.usage === true
      ? new EnvironmentUsage({ store: stores.usage, environmentId: randomId(), clock, log })
      : undefined;
  const handlerOptions = {
    usage: both(usage, options.tenantMeter),
    tracer: options.tracer,
    links: stores.links,
    poster,
    clock,
    log,
    meter,
    makeBroker,
    messageClock: state.messageClock,
    maximumPacketSize: brokerOptions.limits.maximumPacketSize,
    fanOut,
    rules: options.rules,
    handshakes,
    connectDeadline,
    connectionSeconds: options.connectionSeconds,
    resumeSeconds: options.resumeSeconds,
    cutAfterMs: options.cutAfterMs,
    withoutExtensions: options.withoutExtensions,
    sleep,
    frameQuota: shared && messages && new SharedFrameQuota(shared, messages),
    allowedOrigins,
    bans: stores.bans,
  };
  const environment: Environment = createEnvironment(handlerOptions);
  return {
    stores,
    environment,
    routes: createRouteHandlers(environment, handlerOptions),
    usage,
    liveness,
    streams,
    ticks: rooms?.ticks,
    presence: rooms && stores.presence,
  };
}

/** Rooms, their ticks, and a look after the connections of their members, whose watchers wait for them to leave. */
function roomsOf(
  { presence: store, subscriptions }: DynamoStores,
  liveness: Liveness | undefined,
  { livenessTimers, clock }: CloudOptions,
): { readonly presence: Presence; readonly ticks: RoomTicks } {
  if (livenessTimers === undefined || liveness === undefined)
    throw new Error('the ticks of rooms are timers, and there are none');
  const ticks = new RoomTicks(store, livenessTimers, clock);
  const audiences = new Audiences(subscriptions, clock);
  const presence: Presence = {
    store,
    ticks,
    isListedByRoom: true,
    audienceOf: (filter) => audiences.of(filter),
    begins: async (session) => {
      if (session.attachment !== undefined) await liveness.arm(session, session.attachment.connectionId);
    },
  };
  return { presence, ticks };
}
