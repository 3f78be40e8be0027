import {
  dropFigures,
  emqxName,
  type Figures,
  METRICS,
  type MetricName,
  type Sample,
  STATS,
  type StatName,
} from '@apus/api';
import type { QoS } from '@apus/mqtt';
import type { DropMeter } from '../drop-meter.ts';
import type { PacketCounts, TrafficMeter } from '../traffic-meter.ts';
import type { ListedLinks, ListedStores } from './sources.ts';

/** The counts of a process. Reading them costs a few additions for each tenant and each connection. */
export interface FigureSources {
  readonly stores: Pick<ListedStores, 'sessions' | 'subscriptions' | 'retained'>;
  readonly links: Pick<ListedLinks, 'size' | 'bytes'>;
  readonly meter: TrafficMeter;
  readonly drops: DropMeter;
  /** Undefined where no topics are described. */
  readonly payloads: { readonly succeeded: number; readonly failed: number } | undefined;
}

/** The tenant of `KeptMessages` for `$delayed/…`. */
const DELAYED = '$delayed';

/** The present numbers, of all tenants. */
export function statsOf({ stores: { sessions, subscriptions, retained } }: FigureSources): Figures<StatName> {
  const total = sessions.holdings.total;
  return {
    'connections.count': total.sessions,
    'live_connections.count': total.connections,
    'sessions.count': total.sessions,
    'subscriptions.count': subscriptions.count,
    'subscriptions.shared.count': subscriptions.sharedCount,
    'retained.count': retained.countAll(),
    'delayed.count': retained.count(DELAYED),
  };
}

/** Counts since the start, of all tenants. */
export function metricsOf({ links, meter, drops, payloads }: FigureSources): Figures<MetricName> {
  const { receivedBytes, sentBytes } = links.bytes;
  const received = sumOfQos(meter.received);
  const sent = sumOfQos(meter.sent);
  return {
    'bytes.received': receivedBytes,
    'bytes.sent': sentBytes,
    'packets.received': received + sumOfPackets(meter.packetsReceived),
    'packets.sent': sent + sumOfPackets(meter.packetsSent),
    'packets.publish.received': received,
    'packets.publish.sent': sent,
    ...packetsOf(meter),
    'messages.received': received,
    'messages.sent': sent,
    'messages.qos0.received': meter.received[0],
    'messages.qos0.sent': meter.sent[0],
    'messages.qos1.received': meter.received[1],
    'messages.qos1.sent': meter.sent[1],
    'messages.qos2.received': meter.received[2],
    'messages.qos2.sent': meter.sent[2],
    'messages.dropped': drops.unrouted,
    'messages.dropped.no_subscribers': drops.unrouted,
    'messages.validation_succeeded': payloads?.succeeded ?? 0,
    'messages.validation_failed': payloads?.failed ?? 0,
    ...dropFigures('delivery.dropped', drops.total),
    'delivery.dropped.filter': drops.filtered,
  };
}

type PacketFigure = Exclude<Extract<MetricName, `packets.${string}.${string}`>, `packets.publish.${string}`>;

function packetsOf({
  packetsReceived: received,
  packetsSent: sent,
  ...meter
}: TrafficMeter): Figures<PacketFigure> {
  return {
    'packets.connect.received': received.connect,
    'packets.connack.sent': sent.connack,
    'packets.connack.error': meter.refused,
    'packets.connack.auth_error': meter.refusedCredentials,
    'packets.puback.received': received.puback,
    'packets.puback.sent': sent.puback,
    'packets.pubrec.received': received.pubrec,
    'packets.pubrec.sent': sent.pubrec,
    'packets.pubrel.received': received.pubrel,
    'packets.pubrel.sent': sent.pubrel,
    'packets.pubcomp.received': received.pubcomp,
    'packets.pubcomp.sent': sent.pubcomp,
    'packets.subscribe.received': received.subscribe,
    'packets.suback.sent': sent.suback,
    'packets.unsubscribe.received': received.unsubscribe,
    'packets.unsuback.sent': sent.unsuback,
    'packets.pingreq.received': received.pingreq,
    'packets.pingresp.sent': sent.pingresp,
    'packets.disconnect.received': received.disconnect,
    'packets.disconnect.sent': sent.disconnect,
    'packets.auth.received': received.auth,
    'packets.auth.sent': sent.auth,
  };
}

function sumOfQos(counts: Readonly<Record<QoS, number>>): number {
  return counts[0] + counts[1] + counts[2];
}

function sumOfPackets(counts: PacketCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** All of them by EMQX's names, for Prometheus. */
export function emqxSamples(sources: FigureSources): readonly Sample[] {
  return [...named('gauge', statsOf(sources), STATS), ...named('counter', metricsOf(sources), METRICS)];
}

function named<Name extends string>(
  type: Sample['type'],
  figures: Readonly<Record<Name, number>>,
  helps: Readonly<Record<Name, string>>,
): readonly Sample[] {
  const names = Object.keys(helps) as Name[];
  return names.map((name) => ({ name: emqxName(name), type, help: helps[name], value: figures[name] }));
}
