import {
  type Broker,
  type Connections,
  type Delivery,
  type FailedPush,
  type Link,
  type MatchedFilter,
  type Message,
  type SubscriptionStore,
  sampledTraceOf,
} from '@apus/broker';
import type { Attributes, Span, Tracer } from './tracer.ts';

/** A broker that makes a span of its work on a PUBLISH, from the packet to the answer. */
export function tracedBroker(broker: Broker, tracer: Tracer): Broker {
  return {
    ...broker,
    receive(link, packet) {
      if (!('type' in packet) || packet.type !== 'publish') return broker.receive(link, packet);
      const { topic, properties, qos } = packet;
      const attributes: Attributes = { 'messaging.mqtt.qos': qos, ...tenantOf(link) };
      return tracer.receive(topic, properties, attributes, () => broker.receive(link, packet));
    },
    publish(request) {
      const { topic, properties, qos, tenant } = request;
      const attributes: Attributes = { 'messaging.mqtt.qos': qos, 'apus.tenant': tenant };
      return tracer.receive(topic, properties, attributes, () => broker.publish(request));
    },
  };
}

function tenantOf({ state }: Link): Attributes {
  return state.phase === 'connected' ? { 'apus.tenant': state.connection.session.tenant } : {};
}

/** Subscriptions that make a span of the search for the subscribers of a message. */
export function tracedSubscriptions(store: SubscriptionStore, tracer: Tracer): SubscriptionStore {
  const count = (matched: readonly MatchedFilter[]): Attributes => ({ 'apus.filters': matched.length });
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name !== 'match') return value.bind(target);
      return (...given: Parameters<SubscriptionStore['match']>) =>
        tracer.within('route', () => target.match(...given), count);
    },
  });
}

/** Connections that make a span of handing a message to its recipients: for a door that sends at once. */
export function tracedConnections(connections: Connections, tracer: Tracer): Connections {
  return {
    isReady: (connectionId) => connections.isReady(connectionId),
    ...(connections.isPageUnderWay && {
      isPageUnderWay: (connectionId) => connections.isPageUnderWay?.(connectionId) ?? false,
    }),
    send: (connectionId, packet) => connections.send(connectionId, packet),
    close: (connectionId, disconnect) => connections.close(connectionId, disconnect),
    publish(message, deliveries) {
      const span = deliverySpan(tracer, message, deliveries);
      const failed = connections.publish(message, deliveries);
      if (failed instanceof Promise) return failed.then((failures) => delivered(span, failures));
      return delivered(span, failed);
    },
  };
}

/**
 * Begins the span of a message on its way to clients: a child of the span that handles it, or of the publisher's if
 * another process has handled it. Undefined: no trace is asked for.
 */
export function deliverySpan(
  tracer: Tracer,
  message: Message,
  deliveries: readonly Delivery[],
): Span | undefined {
  const parent = tracer.current ?? sampledTraceOf(message.properties);
  return parent && tracer.begin('deliver', 'producer', parent, { 'apus.deliveries': deliveries.length });
}

function delivered(
  span: Span | undefined,
  failed: readonly FailedPush[] | undefined,
): readonly FailedPush[] | undefined {
  span?.end({ 'apus.failed': failed?.length ?? 0 });
  return failed;
}
