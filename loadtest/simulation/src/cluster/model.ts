import {
  type Case,
  CONNECT_US,
  CONNECTION_BYTES,
  DELIVERY_QOS0_US,
  DELIVERY_QOS1_US,
  ENGINE_BYTES,
  ENGINE_BYTES_PER_SECOND_MAX,
  ENGINE_CLIENT_BYTES,
  ENGINE_CONNECT_US,
  ENGINE_HOP_QOS0_US,
  ENGINE_HOP_US,
  ENGINE_ROUTE_BYTES,
  ENGINE_SUBSCRIBE_US,
  ENTRY_OVERHEAD_BYTES,
  EXCHANGE_US,
  HOP_QOS0_US,
  HOP_US,
  LEASE_SECONDS,
  MANY_RECIPIENTS,
  PING_US,
  PROCESS_BYTES,
  PUBLISH_SHARE,
  ROUTE_BYTES,
  ROUTE_US,
  SUBSCRIBE_US,
} from './constants.ts';
import type { ClusterWorkload } from './workload.ts';

/** The most processes that `ApusCluster` starts. */
const PROCESSES_MAX = 200;
const PROCESSES_LEAST = 2;
const MICROS = 1e6;

/** A cluster that carries a workload, or the nearest one to that. */
export interface SizedCluster {
  readonly processes: number;
  /** The resource that determined the number of processes. */
  readonly boundBy: 'connections' | 'processors' | 'the least there is';
  /** The busy part of a core. */
  readonly busy: number;
  readonly bytes: number;
  /** Messages to other processes in a second. */
  readonly hops: number;
  readonly engine: SizedEngine;
  /** Seconds from the end of a process until all its clients are back. */
  readonly backSeconds: number;
}

export interface SizedEngine {
  /** The busy part of its one core. */
  readonly busy: number;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  /**
   * How many engines share the load so that each stays within its limits: clients have to be divided among clusters.
   */
  readonly count: number;
}

/** Undefined: not even 200 processes carry it. */
export function sizeCluster(workload: ClusterWorkload, bounds: Case): SizedCluster | undefined {
  const { connections, connectionsPerProcessMax, cpuShareMax } = workload;
  const byConnections = Math.max(PROCESSES_LEAST, Math.ceil(connections / connectionsPerProcessMax));
  for (let processes = byConnections; processes <= PROCESSES_MAX; processes += 1) {
    const busy = busyOf(workload, bounds, processes);
    if (busy > cpuShareMax) continue;
    const boundBy =
      processes > byConnections
        ? 'processors'
        : processes > PROCESSES_LEAST
          ? 'connections'
          : 'the least there is';
    return sized(workload, bounds, processes, busy, boundBy);
  }
  return undefined;
}

function sized(
  workload: ClusterWorkload,
  bounds: Case,
  processes: number,
  busy: number,
  boundBy: SizedCluster['boundBy'],
): SizedCluster {
  const { connections, filters } = workload;
  const hops = workload.messagesPerSecond * othersReached(workload.recipients, processes);
  const bytes =
    PROCESS_BYTES +
    (connections / processes) * CONNECTION_BYTES[bounds] +
    routesOf(workload, processes) * ROUTE_BYTES[bounds];
  const engine = engineOf(workload, bounds, processes, hops);
  const back = backSecondsOf(workload, bounds, processes, busy, filters / connections);
  return { processes, boundBy, busy, bytes, hops, engine, backSeconds: back };
}

/** Other processes with a subscriber of a message, on average, when subscribers are spread at random. */
export function othersReached(recipients: number, processes: number): number {
  return (processes - 1) * (1 - (1 - 1 / processes) ** recipients);
}

/** The busy part of a core, for each process. */
function busyOf(workload: ClusterWorkload, bounds: Case, processes: number): number {
  const { messagesPerSecond, recipients, connections, keepAliveSeconds, coreSpeed } = workload;
  const hop = (workload.qos === 0 ? HOP_QOS0_US : HOP_US)[bounds];
  const message = messageUs(workload, bounds) + othersReached(recipients, processes) * hop;
  const pings = (connections / keepAliveSeconds) * PING_US[bounds];
  return (messagesPerSecond * message + pings) / MICROS / processes / coreSpeed;
}

/** Deliveries at one process, to all of its subscribers. */
function messageUs({ qos, recipients }: ClusterWorkload, bounds: Case): number {
  const exchange = EXCHANGE_US[bounds] * (qos === 0 ? 0.5 : 1);
  if (recipients < MANY_RECIPIENTS) {
    return exchange * (PUBLISH_SHARE + (1 - PUBLISH_SHARE) * recipients);
  }
  const delivery = qos === 0 ? DELIVERY_QOS0_US : DELIVERY_QOS1_US;
  return exchange * PUBLISH_SHARE + delivery[bounds] * recipients;
}

/**
 * Filters that the other processes need, as each process stores them: a filter with subscribers at several processes
 * counts for each.
 */
function routesOf({ filters, recipients }: ClusterWorkload, processes: number): number {
  return filters * othersReached(recipients, processes);
}

function engineOf(workload: ClusterWorkload, bounds: Case, processes: number, hops: number): SizedEngine {
  const { connections, filters, recipients, payloadBytes, engineShareMax, coreSpeed } = workload;
  const hop = (workload.qos === 0 ? ENGINE_HOP_QOS0_US : ENGINE_HOP_US)[bounds];
  const busy = (hops * hop) / MICROS / coreSpeed;
  const bytesPerSecond = hops * (payloadBytes + ENTRY_OVERHEAD_BYTES);
  const routes = filters * (othersReached(recipients, processes) + 1);
  const bytes = ENGINE_BYTES + connections * ENGINE_CLIENT_BYTES + routes * ENGINE_ROUTE_BYTES;
  const count = Math.max(
    1,
    Math.ceil(busy / engineShareMax),
    Math.ceil(bytesPerSecond / ENGINE_BYTES_PER_SECOND_MAX),
  );
  return { busy, bytes, bytesPerSecond, count };
}

/** First the lease, and then the slower of the remaining processes and the engine. */
function backSecondsOf(
  { connections, coreSpeed, engineShareMax }: ClusterWorkload,
  bounds: Case,
  processes: number,
  busy: number,
  filtersEach: number,
): number {
  const clients = connections / processes;
  const told = SUBSCRIBE_US[bounds] + (processes - 1) * ROUTE_US[bounds];
  const ofProcesses = (clients * (CONNECT_US[bounds] + filtersEach * told)) / MICROS / coreSpeed;
  const ofEngine =
    (clients * (ENGINE_CONNECT_US[bounds] + filtersEach * ENGINE_SUBSCRIBE_US[bounds])) / MICROS;
  const spare = (processes - 1) * (1 - busy);
  return LEASE_SECONDS + Math.max(ofProcesses / spare, ofEngine / coreSpeed / engineShareMax);
}
