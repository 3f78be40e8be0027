import { answerPeer } from './api/answers.ts';
import { bridgesContext } from './bridges/bridges.ts';
import type { Cluster } from './cluster.ts';
import { composeNode, type NodeParts } from './compose-node.ts';
import { disconnectAll } from './disconnect-all.ts';
import { stackOf } from './log.ts';
import { type NodeOptions, type ResolvedOptions, resolveOptions } from './options.ts';
import { within } from './within.ts';

/** How long a process of a cluster that stops waits for its bridges, and for its usage. */
const STOP_MS_MAX = 3_000;

/** A broker that runs in this process. */
export interface RunningNode {
  /** Where MQTT clients connect, as `ws://127.0.0.1:8083/mqtt`. */
  readonly url: string;
  /** The same, and the addresses of `listen` with their ports. */
  readonly urls: readonly string[];
  /** Where the page and `/healthz` are, as `http://127.0.0.1:8083/`. */
  readonly httpUrl: string;
  readonly port: number;
  /** The gateway door, if one was asked for: its clients need the Apus transport. */
  readonly gateway: { readonly url: string } | undefined;
  /** Its place in a cluster. Undefined: it stands alone. */
  readonly cluster: Pick<Cluster, 'me' | 'gone'> | undefined;
  /** Resolves when the disk has failed, never without a data directory: the node then stops by itself. */
  readonly failed: Promise<Error>;
  /** Logs and counts an exception that no part of the node has caught. The node goes on. */
  uncaught(error: unknown): void;
  /** Reads changed users files and certificates now, and not within two seconds. */
  reread(): Promise<void>;
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
  const { opened, access, doors, gateway, log } = parts;
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
    url: doors.urls[0] ?? '',
    urls: doors.urls,
    httpUrl: doors.httpUrl,
    port: doors.port,
    gateway: gateway && { url: gateway.url },
    cluster: parts.cluster,
    failed: opened.failed,
    uncaught: (error) => log.error('uncaught', { error: stackOf(error) }),
    async reread() {
      doors.reread();
      await Promise.all(access.usersFiles.map(({ users }) => users.look()));
    },
    stop,
  };
}

/** Starts bridges, joins the cluster and listens. @throws {StartError} having stopped the parts again */
async function letClientsIn(options: ResolvedOptions, parts: NodeParts): Promise<void> {
  const { opened, broker, bridges, cluster, gateway, doors, log } = parts;
  const { locals, connectionId, clock } = parts;
  try {
    const context = { broker, stores: opened.stores, locals, connectionId, clock, log };
    // Before the first client, so that no message passes by the bridges.
    await bridges?.start(bridgesContext({ ...options.broker.limits, ...context }), cluster !== undefined);
    await joinCluster(parts);
    await parts.delays.start(broker);
    await doors.open();
  } catch (error) {
    await doors.close();
    await bridges?.stop();
    await gateway?.stop();
    await opened.close();
    throw error;
  }
}

async function joinCluster(parts: NodeParts): Promise<void> {
  const { cluster, broker, timers, facts, banKeeper, tenants, bridges, usage, doors, conditions } = parts;
  await cluster?.start({
    broker,
    timers,
    answer: (request) => answerPeer(facts, request),
    bansChanged: (bans) => banKeeper.changed(bans),
    tenantChanged: async (name, json) => await tenants?.changed(name, json),
    clearTenant: async (tenant) => void (await tenants?.endSessions(tenant)),
    lead: () => bridges?.lead(),
    backlog: bridges?.backlog,
    fullElsewhere: (process, filters) => bridges?.fullElsewhere(process, filters),
    saveUsage: () => usage.save(),
    enforceBans: () => banKeeper.enforceAll(),
    loadConditions: () => conditions.load(),
    accept: (peer, wire, socket) => doors.serve(peer, wire, socket),
  });
}

function startTimers({ sweep, sysTopics, usage, access, usersChanges, broker, log, clock }: NodeParts): void {
  sweep.start();
  sysTopics.start();
  usage.start();
  for (const file of access.usersFiles) {
    const onChange = (names: readonly string[]) => void usersChanges.apply(broker, file, names);
    file.users.watch({ scheduler: clock, log, onChange });
  }
}

async function stopNode(options: ResolvedOptions, parts: NodeParts): Promise<void> {
  const { cluster, clock, doors, bridges, links, access, gateway } = parts;
  /** In a cluster the wait is limited: an engine that is gone never answers. */
  const inTimeToStop = async (work: Promise<void> | undefined): Promise<void> => {
    if (cluster === undefined) await work;
    else if (work !== undefined) await within(clock, STOP_MS_MAX, work);
  };
  doors.refuse();
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
  await doors.close();
  await inTimeToStop(parts.usage.stop());
  await parts.traces?.stop();
  await parts.opened.close();
  parts.log.end();
}
