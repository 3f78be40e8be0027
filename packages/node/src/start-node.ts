import type { AddressInfo } from 'node:net';
import { answerPeer } from './api/shared-handlers.ts';
import { bridgesContext } from './bridges/bridges.ts';
import type { Cluster } from './cluster.ts';
import { composeNode, type NodeParts } from './compose-node.ts';
import { disconnectAll } from './disconnect-all.ts';
import { MQTT_PATH } from './handshake.ts';
import { closeServer } from './http-server.ts';
import { listen } from './listen.ts';
import { type NodeOptions, type ResolvedOptions, resolveOptions } from './options.ts';
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
  let stopped: Promise<void> | undefined;
  const parts = await composeNode(resolved, () => stopped !== undefined);
  const { opened, access, log } = parts;
  await letClientsIn(resolved, parts);
  startTimers(parts);
  const stop = (): Promise<void> => {
    stopped ??= stopNode(resolved, parts);
    return stopped;
  };
  void opened.failed.then((error) => {
    log.error('disk-failed', { error: error.message });
    return stop();
  });
  return {
    ...addressesOf(resolved, parts),
    cluster: parts.cluster,
    failed: opened.failed,
    async rereadUsers() {
      await Promise.all(access.usersFiles.map(({ users }) => users.look()));
    },
    stop,
  };
}

/** Starts bridges, joins the cluster and listens. @throws {StartError} having stopped the parts again */
async function letClientsIn(options: ResolvedOptions, parts: NodeParts): Promise<void> {
  const { opened, broker, bridges, cluster, gateway, server, log } = parts;
  const { locals, connectionId, clock } = parts;
  try {
    const context = { broker, stores: opened.stores, locals, connectionId, clock, log };
    // Before the first client, so that no message passes by the bridges.
    await bridges?.start(bridgesContext({ ...options.broker.limits, ...context }), cluster !== undefined);
    await joinCluster(parts);
    await parts.delays.start(broker);
    await listen(server, options.host, options.port);
  } catch (error) {
    await bridges?.stop();
    await gateway?.stop();
    await opened.close();
    throw error;
  }
  // Accepting may fail later, when open files run out: the connections that are there go on.
  server.on('error', (error) => log.error('accept-failed', { error: error.message }));
}

async function joinCluster(parts: NodeParts): Promise<void> {
  const { cluster, broker, timers, handlers, banKeeper, tenants, bridges, usage, listener } = parts;
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
}

function startTimers({ sweep, sysTopics, usage, access, opened, broker, log, clock }: NodeParts): void {
  sweep.start();
  sysTopics.start();
  usage.start();
  const { sessions } = opened.stores;
  for (const file of access.usersFiles) {
    const onChange = (names: readonly string[]) =>
      void usersChanged({ ...file, sessions, broker, log }, names);
    file.users.watch({ scheduler: clock, log, onChange });
  }
}

async function stopNode(options: ResolvedOptions, parts: NodeParts): Promise<void> {
  const { cluster, clock, listener, bridges, links, access, gateway } = parts;
  /** In a cluster the wait is limited: an engine that is gone never answers. */
  const inTimeToStop = async (work: Promise<void> | undefined): Promise<void> => {
    if (cluster === undefined) await work;
    else if (work !== undefined) await within(clock, STOP_MS_MAX, work);
  };
  listener.stop();
  // Stop the bridges first: another process of the group then takes messages that these clients would not get.
  await inTimeToStop(bridges?.stop());
  cluster?.endForwarded();
  await disconnectAll(links, options);
  parts.sweep.stop();
  parts.sysTopics.stop();
  parts.throttle.stop();
  for (const { users } of access.usersFiles) users.stop();
  await gateway?.stop();
  parts.timers.stop();
  parts.ticker.stop();
  parts.delays.stop();
  listener.end();
  await closeServer(parts.server);
  await inTimeToStop(parts.usage.stop());
  await parts.traces?.stop();
  await parts.opened.close();
  parts.log.end();
}

function addressesOf(
  { host }: ResolvedOptions,
  { server, gateway }: NodeParts,
): Pick<RunningNode, 'url' | 'httpUrl' | 'port' | 'gateway'> {
  const { port } = server.address() as AddressInfo;
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return {
    url: `ws://${authority}${MQTT_PATH}`,
    httpUrl: `http://${authority}/`,
    port,
    gateway: gateway && { url: gateway.url },
  };
}
