import { dropFigures, type Figures, type MetricName, type StatName } from '@apus/api';
import type { DropMeter } from '@apus/door';
import type { QoS } from '@apus/mqtt';
import type { Links } from '../links.ts';
import type { LocalStores } from '../stores.ts';
import type { NodeTopics } from '../topics.ts';
import type { PacketCounts, TrafficMeter } from '../traffic-meter.ts';

/** The counts of a node. Reading them costs a few additions for each tenant and each connection. */
export interface FigureSources {
  readonly stores: Pick<LocalStores, 'sessions' | 'subscriptions' | 'retained'>;
  readonly links: Links;
  readonly meter: TrafficMeter;
  readonly drops: DropMeter;
  /** Undefined where no topics are described. */
  readonly payloads: NodeTopics['payloads'] | undefined;
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
