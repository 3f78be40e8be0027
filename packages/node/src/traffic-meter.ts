import type { Broker, Connections, Delivery, FailedPush } from '@apus/broker';
import type { QoS } from '@apus/mqtt';

/** PUBLISH packets of both doors since the process started, by QoS. */
export interface TrafficMeter {
  readonly received: Record<QoS, number>;
  /** Handed to connections; repetitions count again, those for a connection that had gone do not. */
  readonly sent: Record<QoS, number>;
}

export function createTrafficMeter(): TrafficMeter {
  return { received: { 0: 0, 1: 0, 2: 0 }, sent: { 0: 0, 1: 0, 2: 0 } };
}

/** Counts what clients publish. */
export function meteredBroker(broker: Broker, { received }: TrafficMeter): Broker {
  return {
    ...broker,
    receive: (link, packet) => {
      if ('type' in packet && packet.type === 'publish') received[packet.qos] += 1;
      return broker.receive(link, packet);
    },
  };
}

/** Counts what clients are sent: every PUBLISH goes through this port. */
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
