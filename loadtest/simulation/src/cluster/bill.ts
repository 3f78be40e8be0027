import { GIGABYTE, type PriceName, priceOf, unitUsd, usdOf } from '@apus/cost';
import { ENGINE_MEMORY_SHARE, PACKET_OVERHEAD_BYTES, WIRE_OVERHEAD_BYTES } from './constants.ts';
import type { SizedCluster } from './model.ts';
import type { ClusterWorkload } from './workload.ts';

/** Hours of thirty days, as everywhere here. */
const HOURS = 720;
const HOUR_SECONDS = 3_600;
const GIBIBYTE = 2 ** 30;
/**
 * The heap's share of a machine's memory, as `ApusCluster` sets it: the rest is for the kernel's buffers of
 * connections, and the system.
 */
const MEMORY_SHARE = 0.65;
/** Fargate has no task of one core with less, nor with more. */
const TASK_GIGABYTES_LEAST = 2;
const TASK_GIGABYTES_MOST = 8;
/** A load balancer over TLS. */
const UNIT_CONNECTIONS = 3_000;
const UNIT_GIGABYTES = 1;
/** Two zones: half of the data that processes and the load balancer pass on crosses zones, and both sides pay. */
const ZONE_SHARE = 0.5;
const ZONE_WAYS = 2;
/** A primary and a copy. */
const ENGINE_NODES = 2;

interface Kind {
  readonly name: string;
  readonly cores: number;
  readonly gigabytes: number;
  readonly price: PriceName;
}

const MACHINES: readonly Kind[] = [
  { name: 'c7g.xlarge', cores: 4, gigabytes: 8, price: 'c7gXlarge' },
  { name: 'm7g.xlarge', cores: 4, gigabytes: 16, price: 'm7gXlarge' },
];

const ENGINES = [
  { name: 'cache.m7g.large', gigabytes: 6.38, price: 'engineM7gLarge' },
  { name: 'cache.m7g.xlarge', gigabytes: 12.93, price: 'engineM7gXlarge' },
  { name: 'cache.r7g.xlarge', gigabytes: 26.32, price: 'engineR7gXlarge' },
  { name: 'cache.r7g.2xlarge', gigabytes: 52.82, price: 'engineR7g2xlarge' },
] as const;

/** The same kind of machine for all processes. */
export interface Machines {
  readonly name: string;
  readonly count: number;
  readonly usd: number;
}

export interface ClusterBill {
  readonly machines: readonly Machines[];
  readonly engine: { readonly name: string; readonly nodes: number; readonly usd: number };
  readonly loadBalancer: { readonly units: number; readonly usd: number };
  readonly zonesUsd: number;
  readonly outUsd: number;
  readonly outGigabytes: number;
  /** With the cheapest machines. */
  readonly usd: number;
}

/** A month at list prices, on demand. */
export function billOfCluster(workload: ClusterWorkload, sized: SizedCluster): ClusterBill {
  const machines = [tasks(sized), ...MACHINES.map((kind) => machinesOf(kind, sized))];
  const engine = engineOf(sized);
  const traffic = trafficOf(workload);
  const loadBalancer = loadBalancerOf(workload, traffic.gigabytesPerHour);
  const outGigabytes = traffic.outPerHour * HOURS;
  const outUsd = usdOf(priceOf('dataTransferOut'), outGigabytes);
  const hopGigabytes = (sized.engine.bytesPerSecond * 2 * HOUR_SECONDS * HOURS) / GIGABYTE;
  const crossing = (traffic.gigabytesPerHour * HOURS + hopGigabytes) * ZONE_SHARE * ZONE_WAYS;
  const zonesUsd = crossing * unitUsd(priceOf('transferBetweenZones'));
  const least = Math.min(...machines.map(({ usd }) => usd));
  return {
    machines,
    engine,
    loadBalancer,
    zonesUsd,
    outUsd,
    outGigabytes,
    usd: least + engine.usd + loadBalancer.usd + zonesUsd + outUsd,
  };
}

function tasks({ processes, bytes }: SizedCluster): Machines {
  const needed = Math.ceil(bytes / GIBIBYTE / MEMORY_SHARE);
  const gigabytes = Math.min(TASK_GIGABYTES_MOST, Math.max(TASK_GIGABYTES_LEAST, needed));
  const hour = unitUsd(priceOf('fargateCpu')) + gigabytes * unitUsd(priceOf('fargateMemory'));
  return { name: `Fargate, 1 vCPU, ${gigabytes} GB`, count: processes, usd: processes * hour * HOURS };
}

/**
 * One process for each core, if the memory allows it: the time of the processes includes the kernel's part of a
 * message.
 */
function machinesOf({ name, cores, gigabytes, price }: Kind, { processes, bytes }: SizedCluster): Machines {
  const byMemory = Math.floor((gigabytes * GIBIBYTE * MEMORY_SHARE) / bytes);
  const each = Math.max(1, Math.min(cores, byMemory));
  const count = Math.max(2, Math.ceil(processes / each));
  return { name: `${name}, ${each} each`, count, usd: count * unitUsd(priceOf(price)) * HOURS };
}

function engineOf({ engine }: SizedCluster): ClusterBill['engine'] {
  const needed = engine.bytes / engine.count / GIBIBYTE / ENGINE_MEMORY_SHARE;
  const found = ENGINES.find(({ gigabytes }) => gigabytes >= needed) ?? ENGINES[ENGINES.length - 1];
  if (found === undefined) throw new Error('there are engines');
  const nodes = ENGINE_NODES * engine.count;
  return { name: found.name, nodes, usd: nodes * unitUsd(priceOf(found.price)) * HOURS };
}

function trafficOf({ messagesPerSecond, recipients, payloadBytes }: ClusterWorkload) {
  const message = payloadBytes + WIRE_OVERHEAD_BYTES + PACKET_OVERHEAD_BYTES;
  const perHour = (count: number) => (count * message * HOUR_SECONDS) / GIGABYTE;
  const outPerHour = perHour(messagesPerSecond * recipients);
  return { outPerHour, gigabytesPerHour: outPerHour + perHour(messagesPerSecond) };
}

function loadBalancerOf(
  { connections }: ClusterWorkload,
  gigabytesPerHour: number,
): ClusterBill['loadBalancer'] {
  const units = Math.max(connections / UNIT_CONNECTIONS, gigabytesPerHour / UNIT_GIGABYTES);
  const hour = unitUsd(priceOf('loadBalancer')) + units * unitUsd(priceOf('loadBalancerUnit'));
  return { units, usd: hour * HOURS };
}
