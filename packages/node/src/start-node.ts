import type { AddressInfo } from 'node:net';
import { NODE_NAME } from '@apus/api';
import { type Log, PRESENCE_GRACE_SECONDS, SparingLog, STABLE_AFTER_MS } from '@apus/broker';
import { withAsyncApi } from './api/async-api.ts';
import { apiHandlers } from './api/handlers.ts';
import { withApi } from './api/router.ts';
import { answerPeer, handlersOverAll } from './api/shared-handlers.ts';
import { type Access, openAccess } from './auth/access.ts';
import { BanKeeper } from './ban-keeper.ts';
import { admitsBridges, BridgesAuthorizer } from './bridges/access.ts';
import { bridgesContext } from './bridges/bridges.ts';
import { LocalLinks } from './bridges/local-links.ts';
import { NodeBridges } from './bridges/node-bridges.ts';
import type { Cluster } from './cluster.ts';
import { composeBroker } from './compose-broker.ts';
import { connectionIds } from './connection-ids.ts';
import { NodeConnections } from './connections.ts';
import { countersAnswer, withCounters } from './counters.ts';
import { disconnectAll } from './disconnect-all.ts';
import { DropMeter } from './drop-meter.ts';
import { MQTT_PATH } from './handshake.ts';
import { createHttpHandler } from './http.ts';
import { closeServer, createHttpServer } from './http-server.ts';
import { InboundBudget } from './inbound-budget.ts';
import { Links } from './links.ts';
import { listen } from './listen.ts';
import { Listener } from './listener.ts';
import { NodeLog } from './log.ts';
import { createMemoryBudget } from './memory-limit.ts';
import { SysTopics } from './metrics/sys-topics.ts';
import type { LinkContext } from './node-link.ts';
import { type NodeOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import { Flusher } from './outbox.ts';
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
import { openUsage } from './usage/open-usage.ts';
import { usersChanged } from './users-changed.ts';
import { within } from './within.ts';

/** How long a process of a cluster that stops waits for its bridges, and for its usage. */
const STOP_MS_MAX = 3_000;

/** A broker that runs in this process. */
export interface RunningNode {
  /** Where MQTT clients connect, as `ws://127.0.0.1:8083/mqtt`. */
  readonly url: string;
  /** Where the page and `/healthz` are, as `http://127.0.0.1:8083/`. */
  readonly httpUrl: string;
  readonly port: number;
  /** The gateway door, if one was asked for: its clients need the Apus transport. */
  readonly gateway: { readonly url: string } | undefined;
  /** Its place in a cluster. Undefined: it stands alone. */
  readonly cluster: Pick<Cluster, 'me' | 'gone'> | undefined;
  /** Resolves when the disk has failed, never without a data directory: the node then stops by itself. */
  readonly failed: Promise<Error>;
  /** Reads a changed users file now, and not within two seconds. */
  rereadUsers(): Promise<void>;
  /** Tells the clients (0x8B), closes their connections and stops listening. A second call waits for the first. */
  stop(): Promise<void>;
}

/**
 * Starts a broker with its listener in this process.
 *
 * @throws {StartError} when it cannot listen, or must not with these options.
 * @example
 * const node = await startNode({ port: 0 });
 * const client = await mqtt.connectAsync(node.url);
 * // …
 * await node.stop();
 */
export async function startNode(options: NodeOptions = {}): Promise<RunningNode> {
  const resolved = resolveOptions(options);
  const { clock, limits, host } = resolved;
  const log = new SparingLog(new NodeLog(resolved.logLevel, resolved.logSink, clock), clock);
  const links = new Links();
  const memory = createMemoryBudget(
    limits.memoryBytesMax,
    limits.tenantQueueBytesMax,
    resolved.quotas.identity.queuedBytesMax,
    resolved.memoryShares,
  );
  const cluster = await resolved.openCluster?.({
    ...{ clock, memory, log, streams: resolved.streams, tenants: resolved.tenants },
    presenceGraceSeconds: resolved.broker.presenceGraceSeconds ?? PRESENCE_GRACE_SECONDS,
  });
  const opened =
    cluster?.opened ?? (await openStores(resolved.dataDirectory, clock, memory, resolved.streams));
  const tenantStore = cluster?.tenants ?? resolved.tenants;
  const access = await accessFor({ ...resolved, tenants: tenantStore }, log, opened);
  if (resolved.openGateway !== undefined) opened.stores.streamStore.stableAfterMs = STABLE_AFTER_MS;
  const meter = createTrafficMeter();
  const drops = new DropMeter(clock);
  const throttle = new Throttle(clock);
  const rateQuota = new RateQuota(
    resolved.quotas,
    clock,
    cluster &&
      new RateBank({ shared: cluster.rates, now: () => clock.now(), answered: () => throttle.look() }),
  );
  const locals = new LocalLinks();
  const bridges = resolved.openBridges && new NodeBridges(resolved.openBridges);
  const traces = resolved.traces && new NodeTraces(resolved.traces, log);
  const composed = await composeBroker(
    resolved,
    access,
    opened,
    memory,
    { node: new NodeConnections(links, clock, locals), outlet: bridges, cluster, tracer: traces?.tracer },
    log,
    meter,
    drops,
    rateQuota,
  );
  const { broker, connections, timers, ticker, delays, gateway } = composed;
  const server = createHttpServer(limits);
  const usage = openUsage(resolved, opened.stores, links, memory, log, cluster?.usage);
  const context: LinkContext = {
    broker,
    log,
    scheduler: clock,
    flusher: new Flusher(),
    meter,
    inboundBudget: new InboundBudget(limits.inboundTotalBytesMax, () => links.all(), clock),
    limits: { ...limits, maximumPacketSize: resolved.broker.limits.maximumPacketSize },
    webSocket: {
      messageBytesMax: Math.max(limits.webSocketMessageBytesMax, resolved.broker.limits.maximumPacketSize),
      closeTimeoutMs: limits.closeTimeoutSeconds * 1000,
      scheduler: clock,
    },
    rateQuota,
    throttle,
    cluster,
    ended: (link) => {
      usage.ended(link);
      links.remove(link);
    },
  };
  const connectionId = connectionIds();
  const listener = new Listener(server, links, context, {
    limits,
    allowedOrigins: resolved.allowedOrigins,
    bans: opened.bans,
    handshakes: access.handshakes,
    addresses: resolved.addresses,
    log,
    connectionId,
  });
  const sweep = new Sweep(links, clock, log, limits);
  const startedAtMs = clock.now();
  let stopped: Promise<void> | undefined;
  const config = pageConfig(
    context.limits.maximumPacketSize,
    gateway,
    resolved.apiAccess.mode,
    resolved.tenants !== undefined,
  );
  const page = createHttpHandler(
    loadPage(resolved.pageDirectory, resolved.topics !== undefined),
    config,
    () => ({
      status: stopped === undefined ? 'ok' : 'stopping',
      connections: links.size,
      uptimeSeconds: Math.floor((clock.now() - startedAtMs) / 1000),
    }),
  );
  const { stores, bans: list, banStore: store } = opened;
  const tellOthers = cluster?.tellBans;
  const banKeeper = new BanKeeper({ list, store, stores, broker, links, log, tellOthers });
  await banKeeper.enforceAll();
  const tellClear = cluster?.tellClear;
  const tenants =
    tenantStore &&
    new TenantKeeper({ store: tenantStore, stores, bans: banKeeper, broker, clock, log, tellClear });
  await tenants?.suspendAll();
  const handlers = apiHandlers({
    nodeName: cluster?.nodeName ?? NODE_NAME,
    bridges: (tenant) => bridges?.list(tenant) ?? [],
    rules: () => bridges?.rules,
    stores,
    bans: banKeeper,
    tenants,
    broker,
    connections,
    links,
    meter,
    drops,
    payloads: resolved.topics?.payloads,
    memory,
    usage,
    clock,
    startedAtMs,
    streams: resolved.streams,
    quotas: resolved.quotas,
    rates: rateQuota,
    limits: { ...limits, ...resolved.broker.limits },
  });
  const sources = { stores, links, meter, drops, payloads: resolved.topics?.payloads };
  const sysTopics = new SysTopics({ ...resolved.sys, broker, sources, clock, log, startedAtMs });
  const shown = cluster === undefined ? handlers : handlersOverAll(handlers, cluster);
  const api = withApi(page, shown, resolved.apiAccess, log);
  const { topics, streams, apiAccess, addresses } = resolved;
  const { handshakes } = access;
  const isOpen = resolved.identity === undefined && resolved.authenticator === undefined;
  const documented = {
    access: apiAccess,
    handshakes,
    addresses,
    gatewayUrl: gateway?.url,
    isOpen,
    streams,
    log,
  };
  const http = topics === undefined ? api : withAsyncApi(api, { ...documented, topics });
  server.on('request', resolved.counters ? withCounters(http, () => countersAnswer(gateway)) : http);
  try {
    const parts = { ...resolved.broker.limits, broker, stores, locals, connectionId, clock, log };
    // Before the first client, so that no message passes by the bridges.
    await bridges?.start(bridgesContext(parts), cluster !== undefined);
    await cluster?.start({
      broker,
      timers,
      answer: (request) => answerPeer(handlers, request),
      bansChanged: (bans) => banKeeper.changed(bans),
      tenantChanged: async (name, json) => await tenants?.changed(name, json),
      clearTenant: async (tenant) => void (await tenants?.endSessions(tenant)),
      lead: () => bridges?.lead(),
      backlog: bridges?.backlog,
      fullElsewhere: (process, filters) => bridges?.fullElsewhere(process, filters),
      saveUsage: () => usage.save(),
      enforceBans: () => banKeeper.enforceAll(),
      accept: (peer, socket) => listener.serve(peer, socket),
    });
    await delays.start(broker);
    await listen(server, host, resolved.port);
  } catch (error) {
    await bridges?.stop();
    await gateway?.stop();
    await opened.close();
    throw error;
  }
  // Accepting may fail later, when open files run out: the connections that are there go on.
  server.on('error', (error) => log.error('accept-failed', { error: error.message }));
  sweep.start();
  sysTopics.start();
  usage.start();
  const { sessions } = opened.stores;
  for (const file of access.usersFiles) {
    const onChange = (names: readonly string[]) =>
      void usersChanged({ ...file, sessions, broker, log }, names);
    file.users.watch({ scheduler: clock, log, onChange });
  }

  /** In a cluster the wait is limited: an engine that is gone never answers. */
  const inTimeToStop = async (work: Promise<void> | undefined): Promise<void> => {
    if (cluster === undefined) await work;
    else if (work !== undefined) await within(clock, STOP_MS_MAX, work);
  };
  const stop = async (): Promise<void> => {
    listener.stop();
    // Stop the bridges first: another process of the group then takes messages that these clients would not get.
    await inTimeToStop(bridges?.stop());
    cluster?.endForwarded();
    await disconnectAll(links, resolved);
    sweep.stop();
    sysTopics.stop();
    throttle.stop();
    for (const { users } of access.usersFiles) users.stop();
    await gateway?.stop();
    timers.stop();
    ticker.stop();
    delays.stop();
    listener.end();
    await closeServer(server);
    await inTimeToStop(usage.stop());
    await traces?.stop();
    await opened.close();
    log.end();
  };
  const stopOnce = (): Promise<void> => {
    stopped ??= stop();
    return stopped;
  };
  void opened.failed.then((error) => {
    log.error('disk-failed', { error: error.message });
    return stopOnce();
  });
  const { port } = server.address() as AddressInfo;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: `ws://${authority}${MQTT_PATH}`,
    httpUrl: `http://${authority}/`,
    port,
    gateway: gateway && { url: gateway.url },
    cluster,
    failed: opened.failed,
    async rereadUsers() {
      await Promise.all(access.usersFiles.map(({ users }) => users.look()));
    },
    stop: stopOnce,
  };
}

/** Closes the opened stores if the configuration of access is wrong. */
async function accessFor(options: ResolvedOptions, log: Log, opened: OpenedStores): Promise<Access> {
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
