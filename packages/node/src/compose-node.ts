import type { RequestListener, Server } from 'node:http';
import { NODE_NAME } from '@apus/api';
import { PRESENCE_GRACE_SECONDS, SparingLog, STABLE_AFTER_MS } from '@apus/broker';
import { withAsyncApi } from './api/async-api.ts';
import { apiHandlers } from './api/handlers.ts';
import { type Handlers, withApi } from './api/router.ts';
import { handlersOverAll } from './api/shared-handlers.ts';
import { type Access, openAccess } from './auth/access.ts';
import { BanKeeper } from './ban-keeper.ts';
import { admitsBridges, BridgesAuthorizer } from './bridges/access.ts';
import { LocalLinks } from './bridges/local-links.ts';
import { NodeBridges } from './bridges/node-bridges.ts';
import { type Composition, composeBroker } from './compose-broker.ts';
import { connectionIds } from './connection-ids.ts';
import { NodeConnections } from './connections.ts';
import { countersAnswer, withCounters } from './counters.ts';
import { DropMeter } from './drop-meter.ts';
import { createHttpHandler } from './http.ts';
import { createHttpServer } from './http-server.ts';
import { InboundBudget } from './inbound-budget.ts';
import { Links } from './links.ts';
import { Listener } from './listener.ts';
import { NodeLog } from './log.ts';
import { createMemoryBudget } from './memory-limit.ts';
import { SysTopics } from './metrics/sys-topics.ts';
import type { LinkContext } from './node-link.ts';
import type { ResolvedOptions } from './options.ts';
import { Flusher } from './outbound-buffer.ts';
import { loadPage } from './page.ts';
import { pageConfig } from './page-config.ts';
import { RateQuota } from './quotas/rate-quota.ts';
import { RateBank } from './quotas/shared-rates.ts';
import { Throttle } from './quotas/throttle.ts';
import { type OpenedStores, openStores } from './stores.ts';
import { Sweep } from './sweep.ts';
import { TenantKeeper } from './tenant-keeper.ts';
import { NodeTraces } from './traces.ts';
import { createTrafficMeter } from './traffic-meter.ts';
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
  readonly server: Server;
  readonly listener: Listener;
  readonly sweep: Sweep;
  readonly sysTopics: SysTopics;
  readonly banKeeper: BanKeeper;
  readonly tenants: TenantKeeper | undefined;
  /** The operations of the HTTP API, for this process alone. */
  readonly handlers: Handlers;
}

/** @param isStopping for `/healthz` */
export async function composeNode(options: ResolvedOptions, isStopping: () => boolean): Promise<NodeParts> {
  const core = await openCore(options);
  const { opened, cluster, links, memory, log, clock } = core;
  const server = createHttpServer(options.limits);
  const usage = openUsage(options, opened.stores, links, memory, log, cluster?.usage);
  const listener = createListener(options, core, server, usage);
  const sweep = new Sweep(links, clock, log, options.limits);
  const startedAtMs = clock.now();
  const page = createPage(options, core, startedAtMs, isStopping);
  const keepers = await createKeepers(core);
  const handlers = createHandlers(options, { ...core, ...keepers, usage, startedAtMs });
  const sysTopics = createSysTopics(options, core, startedAtMs);
  server.on('request', withHttpApis(page, handlers, options, core));
  return { ...core, ...keepers, usage, server, listener, sweep, sysTopics, handlers };
}

/** Opens the state that outlives a connection: the stores, the cluster, and the configuration of access. */
async function openFoundation(options: ResolvedOptions) {
  const { clock, limits, streams } = options;
  const log = new SparingLog(new NodeLog(options.logLevel, options.logSink, clock), clock);
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
  return { clock, log, memory, cluster, opened, tenantStore, access };
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
    new RateBank({ shared: cluster.rates, now: () => clock.now(), answered: () => throttle.look() });
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

function createListener(options: ResolvedOptions, core: Core, server: Server, usage: NodeUsage): Listener {
  const { limits } = options;
  const { broker, log, clock, links, meter, rateQuota, throttle, cluster } = core;
  const { maximumPacketSize } = options.broker.limits;
  const context: LinkContext = {
    ...{ broker, log, scheduler: clock, meter, rateQuota, throttle, cluster },
    flusher: new Flusher(),
    inboundBudget: new InboundBudget(limits.inboundTotalBytesMax, () => links.all(), clock),
    limits: { ...limits, maximumPacketSize },
    webSocket: {
      messageBytesMax: Math.max(limits.webSocketMessageBytesMax, maximumPacketSize),
      closeTimeoutMs: limits.closeTimeoutSeconds * 1000,
      scheduler: clock,
    },
    ended: (link) => {
      usage.ended(link);
      links.remove(link);
    },
  };
  return new Listener(server, links, context, {
    limits,
    allowedOrigins: options.allowedOrigins,
    bans: core.opened.bans,
    handshakes: core.access.handshakes,
    addresses: options.addresses,
    log,
    connectionId: core.connectionId,
  });
}

/** The web client, and `/healthz`. */
function createPage(
  options: ResolvedOptions,
  { gateway, links, clock }: Core,
  startedAtMs: number,
  isStopping: () => boolean,
): RequestListener {
  const config = pageConfig(
    options.broker.limits.maximumPacketSize,
    gateway,
    options.apiAccess.mode,
    options.tenants !== undefined,
  );
  const page = loadPage(options.pageDirectory, options.topics !== undefined);
  return createHttpHandler(page, config, () => ({
    status: isStopping() ? 'stopping' : 'ok',
    connections: links.size,
    uptimeSeconds: Math.floor((clock.now() - startedAtMs) / 1000),
  }));
}

/** Keeps banned clients and those of suspended tenants out, also those whose sessions the stores have brought. */
async function createKeepers({
  opened,
  tenantStore,
  cluster,
  broker,
  links,
  log,
  clock,
}: Core): Promise<Pick<NodeParts, 'banKeeper' | 'tenants'>> {
  const { stores, bans: list, banStore: store } = opened;
  const banKeeper = new BanKeeper({
    ...{ list, store, stores, broker, links, log },
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

type HandlersParts = Core & Pick<NodeParts, 'banKeeper' | 'tenants' | 'usage'> & { startedAtMs: number };

function createHandlers(options: ResolvedOptions, parts: HandlersParts): Handlers {
  const { broker, connections, links, meter, drops, memory, usage, clock, startedAtMs, tenants } = parts;
  const { bridges, cluster } = parts;
  return apiHandlers({
    ...{ broker, connections, links, meter, drops, memory, usage, clock, startedAtMs, tenants },
    nodeName: cluster?.nodeName ?? NODE_NAME,
    bridges: (tenant) => bridges?.list(tenant) ?? [],
    rules: () => bridges?.rules,
    stores: parts.opened.stores,
    bans: parts.banKeeper,
    payloads: options.topics?.payloads,
    streams: options.streams,
    quotas: options.quotas,
    rates: parts.rateQuota,
    limits: { ...options.limits, ...options.broker.limits },
  });
}

function createSysTopics(
  { sys, topics }: ResolvedOptions,
  { opened, links, meter, drops, broker, clock, log }: Core,
  startedAtMs: number,
): SysTopics {
  const sources = { stores: opened.stores, links, meter, drops, payloads: topics?.payloads };
  return new SysTopics({ ...sys, broker, sources, clock, log, startedAtMs });
}

/** Answers the HTTP API, the document of topics and the counters, each where the options ask for it, and else `page`. */
function withHttpApis(
  page: RequestListener,
  handlers: Handlers,
  options: ResolvedOptions,
  { cluster, access, gateway, log }: Core,
): RequestListener {
  const { topics, streams, apiAccess, addresses } = options;
  const shown = cluster === undefined ? handlers : handlersOverAll(handlers, cluster);
  const api = withApi(page, shown, apiAccess, log);
  const documented = {
    ...{ streams, addresses, log },
    access: apiAccess,
    handshakes: access.handshakes,
    gatewayUrl: gateway?.url,
    isOpen: options.identity === undefined && options.authenticator === undefined,
  };
  const http = topics === undefined ? api : withAsyncApi(api, { ...documented, topics });
  return options.counters ? withCounters(http, () => countersAnswer(gateway)) : http;
}
