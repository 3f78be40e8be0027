import type { Broker, Connections, Delivery, FailedPush } from '@apus/broker';
import { type Packet, type QoS, ReasonCode } from '@apus/mqtt';

/** Packets since the process started. */
export interface TrafficMeter {
  /** PUBLISH packets of both doors, by QoS. */
  readonly received: Record<QoS, number>;
  /** PUBLISH packets handed to connections. Repetitions count again; packets for a connection that was gone do not. */
  readonly sent: Record<QoS, number>;
  /** Other packets, which clients of both doors have sent. */
  readonly packetsReceived: PacketCounts;
  /** Other packets, which the node door has sent. */
  readonly packetsSent: PacketCounts;
  /** CONNACKs of the node door that refuse. */
  refused: number;
  /** Those of them for a wrong credential, or one that is not allowed. */
  refusedCredentials: number;
}

export type PacketCounts = Record<Exclude<Packet['type'], 'publish'>, number>;

export function createTrafficMeter(): TrafficMeter {
  return {
    received: { 0: 0, 1: 0, 2: 0 },
    sent: { 0: 0, 1: 0, 2: 0 },
    packetsReceived: noPackets(),
    packetsSent: noPackets(),
    refused: 0,
    refusedCredentials: 0,
  };
}

function noPackets(): PacketCounts {
  return {
    ...{ connect: 0, connack: 0, puback: 0, pubrec: 0, pubrel: 0, pubcomp: 0, subscribe: 0, suback: 0 },
    ...{ unsubscribe: 0, unsuback: 0, pingreq: 0, pingresp: 0, disconnect: 0, auth: 0 },
  };
}

/** Reason codes from here on refuse a CONNECT. */
const REFUSAL_MIN = 0x80;

/** Counts a packet that leaves the node door; `meteredConnections` counts PUBLISH. */
export function countSent(meter: TrafficMeter, packet: Packet): void {
  if (packet.type === 'publish') return;
  meter.packetsSent[packet.type] += 1;
  if (packet.type !== 'connack' || packet.reasonCode < REFUSAL_MIN) return;
  meter.refused += 1;
  const { BadUserNameOrPassword, NotAuthorized } = ReasonCode;
  if (packet.reasonCode === BadUserNameOrPassword || packet.reasonCode === NotAuthorized)
    meter.refusedCredentials += 1;
}

/** Counts the packets of clients. */
export function meteredBroker(broker: Broker, { received, packetsReceived }: TrafficMeter): Broker {
  return {
    ...broker,
    receive: (link, packet) => {
      if ('type' in packet) {
        if (packet.type === 'publish') received[packet.qos] += 1;
        else packetsReceived[packet.type] += 1;
      }
      return broker.receive(link, packet);
    },
  };
}

/** Counts what clients are sent: every PUBLISH passes this port. */
export function meteredConnections(connections: Connections, meter: TrafficMeter): Connections {
  return {
    isReady: (connectionId) => connections.isReady(connectionId),
    ...(connections.isPageUnderWay && {
      isPageUnderWay: (connectionId) => connections.isPageUnderWay?.(connectionId) ?? false,
    }),
    send: (connectionId, packet) => connections.send(connectionId, packet),
    close: (connectionId, disconnect) => connections.close(connectionId, disconnect),
    publish(message, deliveries) {
      const failed = connections.publish(message, deliveries);
      if (failed instanceof Promise) return failed.then((failures) => count(meter, deliveries, failures));
      return count(meter, deliveries, failed);
    },
  };
}

function count(
  { sent }: TrafficMeter,
  deliveries: readonly Delivery[],
  failed: readonly FailedPush[] | undefined,
): readonly FailedPush[] | undefined {
  for (const { qos } of deliveries) sent[qos] += 1;
  for (const { delivery } of failed ?? []) sent[delivery.qos] -= 1;
  return failed;
}
