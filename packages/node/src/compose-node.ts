import type { RequestListener } from 'node:http';
import { type Facts, NODE_NAME } from '@apus/api';
import { PRESENCE_GRACE_SECONDS, type SparingLog, STABLE_AFTER_MS, steadyNow } from '@apus/broker';
import { BanKeeper, createTrafficMeter, DropMeter, RateBank, RateQuota } from '@apus/door';
import { withAsyncApi } from './api/async-api.ts';
import type { ApiContext } from './api/context.ts';
import { apiHandlers, factsOf } from './api/handlers.ts';
import { type Handlers, withApi } from './api/router.ts';
import { type Access, openAccess } from './auth/access.ts';
import { admitsBridges, BridgesAuthorizer } from './bridges/access.ts';
import { LocalLinks } from './bridges/local-links.ts';
import { NodeBridges } from './bridges/node-bridges.ts';
import { BytesBudget } from './bytes-budget.ts';
import { type Composition, composeBroker } from './compose-broker.ts';
import { connectionIds } from './connection-ids.ts';
import { CONNECTION_ID_PREFIX, NodeConnections } from './connections.ts';
import { countersAnswer, withCounters } from './counters.ts';
import { guarded } from './guarded-requests.ts';
import { refuseHandshake } from './handshake.ts';
import { createHttpHandler } from './http.ts';
import { withEventStreams } from './http-streams/event-streams.ts';
import type { LinkContext } from './link-context.ts';
import { Links } from './links.ts';
import { Doors } from './listening/doors.ts';
import { NodeLog } from './log.ts';
import { LongWork } from './long-work.ts';
import { createMemoryBudget } from './memory-limit.ts';
import { SysTopics } from './metrics/sys-topics.ts';
import { beginObserving } from './observing/begin.ts';
import { ObservedLog, Observer } from './observing/observer.ts';
import type { ResolvedOptions } from './options.ts';
import { Flusher } from './outbound-buffer.ts';
import { loadPage } from './page.ts';
import { pageConfig } from './page-config.ts';
import { Throttle } from './quotas/throttle.ts';
import { type OpenedStores, openStores } from './stores.ts';
import { Sweep } from './sweep.ts';
import { TenantKeeper } from './tenant-keeper.ts';
import { NodeTraces } from './traces.ts';
import type { NodeUsage } from './usage/node-usage.ts';
import { openUsage } from './usage/open-usage.ts';

type Foundation = Awaited<ReturnType<typeof openFoundation>>;
type Meters = ReturnType<typeof createMeters>;

/** The broker, over everything that it needs. */
interface Core extends Foundation, Meters, Composition {
  readonly bridges: NodeBridges | undefined;
}

/** The parts of a node, which know each other. No client can come yet, and no timer runs but those of sessions. */
export interface NodeParts extends Core {
  readonly usage: NodeUsage;
  readonly doors: Doors;
  readonly sweep: Sweep;
  readonly sysTopics: SysTopics;
  readonly banKeeper: BanKeeper;
  readonly tenants: TenantKeeper | undefined;
  /** What the HTTP API answers for this process alone. */
  readonly facts: Facts;
}

/** @param isStopping for `/healthz` */
export async function composeNode(options: ResolvedOptions, isStopping: () => boolean): Promise<NodeParts> {
  const core = await openCore(options);
  const { opened, cluster, links, memory, log, clock } = core;
  const usage = openUsage(options, opened.stores, links, memory, log, cluster?.usage);
  const doors = createDoors(options, core, usage);
  beginObserving(core, options);
  const sweep = new Sweep(links, clock, log, options.limits, () => core.observer.look());
  const startedAtMs = steadyNow(clock);
  const uptimeMs = () => steadyNow(clock) - startedAtMs;
  const page = createPage(options, core, uptimeMs, isStopping);
  const keepers = await createKeepers(core);
  const context = apiContext(options, { ...core, ...keepers, usage, uptimeMs });
  const facts = factsOf(context);
  const handlers = apiHandlers(context, facts, core.cluster);
  const sysTopics = createSysTopics(options, core, uptimeMs);
  const http = withHttpApis(page, handlers, options, core);
  const events = eventStreamsOptions(options, core);
  doors.onRequest((listener) => guarded(withEventStreams(http, listener, events), log));
  return { ...core, ...keepers, usage, doors, sweep, sysTopics, facts };
}

/** Opens the state that outlives a connection: the stores, the cluster, and the configuration of access. */
async function openFoundation(options: ResolvedOptions) {
  const { clock, limits, streams } = options;
  const observer = new Observer(clock);
  const log = new ObservedLog(observer, new NodeLog(options.logLevel, options.logSink, clock), clock);
  const memory = createMemoryBudget(
    limits.memoryBytesMax,
    limits.tenantQueueBytesMax,
    options.quotas.identity.queuedBytesMax,
    options.memoryShares,
  );
  const cluster = await options.openCluster?.({
    ...{ clock, memory, log, streams, tenants: options.tenants },
    presenceGraceSeconds: options.broker.presenceGraceSeconds ?? PRESENCE_GRACE_SECONDS,
  });
  const opened = cluster?.opened ?? (await openStores(options.dataDirectory, clock, memory, streams));
  const tenantStore = cluster?.tenants ?? options.tenants;
  const access = await accessFor({ ...options, tenants: tenantStore }, log, opened);
  if (options.openGateway !== undefined) opened.stores.streamStore.stableAfterMs = STABLE_AFTER_MS;
  return { clock, log, observer, memory, cluster, opened, tenantStore, access };
}

/** Closes the opened stores if the configuration of access is wrong. */
async function accessFor(options: ResolvedOptions, log: SparingLog, opened: OpenedStores): Promise<Access> {
  try {
    const access = openAccess(options, log);
    if (options.openBridges === undefined) return access;
    return {
      ...access,
      authenticator: admitsBridges(access.authenticator),
      authorizer: new BridgesAuthorizer(access.authorizer),
    };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** The connections of this process, and everything that counts, slows down or traces their packets. */
function createMeters({ quotas, traces }: ResolvedOptions, { clock, log, cluster }: Foundation) {
  const throttle = new Throttle(clock);
  const bank =
    cluster &&
    new RateBank({ shared: cluster.rates, now: () => steadyNow(clock), answered: () => throttle.look() });
  return {
    links: new Links(),
    locals: new LocalLinks(),
    connectionId: connectionIds(),
    meter: createTrafficMeter(),
    drops: new DropMeter(clock),
    throttle,
    rateQuota: new RateQuota(quotas, clock, bank),
    traces: traces && new NodeTraces(traces, log),
  };
}

async function openCore(options: ResolvedOptions): Promise<Core> {
  const foundation = await openFoundation(options);
  const meters = createMeters(options, foundation);
  const { access, opened, memory, cluster, log, clock } = foundation;
  const { links, locals, traces, meter, drops, rateQuota } = meters;
  const bridges = options.openBridges && new NodeBridges(options.openBridges);
  const node = new NodeConnections(links, clock, locals);
  const outward = { node, outlet: bridges, cluster, tracer: traces?.tracer };
  const composition = await composeBroker({
    ...{ options, access, opened, memory, outward, log },
    ...{ meter, drops, rateQuota },
  });
  return { ...foundation, ...meters, ...composition, bridges };
}

function createDoors(options: ResolvedOptions, core: Core, usage: NodeUsage): Doors {
  const { limits, addresses } = options;
  const { broker, log, clock, links, meter, rateQuota, throttle, cluster, memory } = core;
  const { maximumPacketSize } = options.broker.limits;
  const context: Omit<LinkContext, 'places'> = {
    ...{ broker, log, scheduler: clock, meter, rateQuota, throttle, cluster, memory },
    acceptsAhead: cluster !== undefined || options.dataDirectory !== undefined,
    flusher: new Flusher(clock),
    longWork: new LongWork(clock),
    inboundBudget: new BytesBudget(limits.inboundTotalBytesMax, () => links.all(), clock),
    outboundBudget: new BytesBudget(limits.outboundTotalBytesMax, () => links.outbound(), clock),
    limits: { ...limits, maximumPacketSize },
    transport: {
      messageBytesMax: Math.max(limits.webSocketMessageBytesMax, maximumPacketSize),
      closeTimeoutMs: limits.closeTimeoutSeconds * 1000,
      scheduler: clock,
      refuseForeign: (socket, reason) => {
        log.info('foreign-protocol', { address: addresses.ofSocket(socket).address, reason });
        // A client of HTTP can show it. Any other finds the end of the connection.
        refuseHandshake(socket, { status: 400, reason });
      },
    },
    ended: (link) => {
      usage.ended(link);
      links.remove(link);
    },
  };
  const { host, port, listen, certificates, clientAuthorities } = options;
  const { allowedOrigins, isOpenToThisMachineOnly } = options;
  return new Doors(
    {
      ...{ host, port, listen, certificates, clientAuthorities, allowedOrigins, isOpenToThisMachineOnly },
      ...{ limits, addresses, links, clock, log },
      bans: core.opened.bans,
      handshakes: core.access.handshakes,
      connectionId: core.connectionId,
    },
    (places) => ({ ...context, places }),
  );
}

/** The web client, and `/healthz`. */
function createPage(
  options: ResolvedOptions,
  { gateway, links }: Core,
  uptimeMs: () => number,
  isStopping: () => boolean,
): RequestListener {
  const hasPortal = options.topics !== undefined;
  const config = pageConfig(
    options.broker.limits.maximumPacketSize,
    gateway,
    options.apiAccess.mode,
    options.tenants !== undefined,
    hasPortal,
  );
  const page = loadPage(options.pageDirectory, hasPortal);
  return createHttpHandler(page, config, () => ({
    status: isStopping() ? 'stopping' : 'ok',
    connections: links.size,
    uptimeSeconds: Math.floor(uptimeMs() / 1000),
  }));
}

/** Keeps banned clients and those of suspended tenants out, also those whose sessions the stores have brought. */
async function createKeepers({
  opened,
  tenantStore,
  cluster,
  broker,
  delays,
  links,
  log,
  clock,
}: Core): Promise<Pick<NodeParts, 'banKeeper' | 'tenants'>> {
  const { stores, bans: list, banStore: store } = opened;
  const banKeeper = new BanKeeper({
    ...{ list, store, stores, broker, delays, links, clock, log },
    tellOthers: cluster?.tellBans,
  });
  await banKeeper.enforceAll();
  const tenants =
    tenantStore &&
    new TenantKeeper({
      ...{ store: tenantStore, stores, bans: banKeeper, broker, clock, log },
      tellClear: cluster?.tellClear,
    });
  await tenants?.suspendAll();
  return { banKeeper, tenants };
}

type ApiParts = Core & Pick<NodeParts, 'banKeeper' | 'tenants' | 'usage'> & { uptimeMs: () => number };

function apiContext(options: ResolvedOptions, parts: ApiParts): ApiContext {
  const { broker, links, meter, drops, memory, usage, clock, log, uptimeMs, tenants } = parts;
  const { bridges, cluster, observer } = parts;
  return {
    ...{ broker, links, meter, drops, memory, usage, clock, log, uptimeMs, tenants, observer },
    startedAtMs: clock.now() - uptimeMs(),
    nodeName: cluster?.nodeName ?? NODE_NAME,
    bridges: (tenant) => bridges?.list(tenant) ?? [],
    rules: () => bridges?.rules,
    stores: parts.opened.stores,
    bans: parts.banKeeper,
    usersFiles: parts.access.usersFiles,
    payloads: options.topics?.payloads,
    planOf: async (tenant) => (await tenants?.register.get(tenant))?.plan,
    doorOf: (id) => (id.startsWith(CONNECTION_ID_PREFIX) ? 'node' : 'gateway'),
    streams: options.streams,
    quotas: options.quotas,
    rates: parts.rateQuota,
    limits: { ...options.limits, ...options.broker.limits },
  };
}

function createSysTopics(
  { sys, topics }: ResolvedOptions,
  { opened, links, meter, drops, broker, clock, log }: Core,
  uptimeMs: () => number,
): SysTopics {
  const sources = { stores: opened.stores, links, meter, drops, payloads: topics?.payloads };
  return new SysTopics({ ...sys, broker, sources, clock, log, uptimeMs });
}

function eventStreamsOptions({ streams, limits, broker }: ResolvedOptions, { drops, clock, log }: Core) {
  return { streams, drops, clock, log, limits: { ...limits, ...broker.limits } };
}

/** Answers the HTTP API, the document of topics and the counters, each where the options ask for it, and else `page`. */
function withHttpApis(
  page: RequestListener,
  handlers: Handlers,
  options: ResolvedOptions,
  { access, gateway, log, opened }: Core,
): RequestListener {
  const { topics, streams, apiAccess, addresses } = options;
  const api = withApi(page, handlers, apiAccess, log);
  const documented = {
    ...{ streams, addresses, log },
    access: apiAccess,
    handshakes: access.handshakes,
    authorizer: access.authorizer,
    bans: opened.bans,
    gatewayUrl: gateway?.url,
    isOpen: options.identity === undefined && options.authenticator === undefined,
  };
  const http = topics === undefined ? api : withAsyncApi(api, { ...documented, topics });
  return options.counters ? withCounters(http, () => countersAnswer(gateway), addresses) : http;
}
