/** The clients' traffic, independent of a service: the prices of other services are computed from it. */
export interface Traffic {
  /** Minutes of all clients together. */
  readonly connectionMinutes: number;
  /** Minutes of persistent sessions whose clients are away. */
  readonly offlineSessionMinutes: number;
  readonly connects: number;
  /** SUBSCRIBE packets. */
  readonly subscribes: number;
  readonly publishes: number;
  /** Messages that have reached a subscriber, or are on their way to one. */
  readonly deliveries: number;
  /** Deliveries that the subscriber acknowledges: QoS 1 and 2. */
  readonly acknowledgedDeliveries: number;
  /** Deliveries that were stored for a client that was away. */
  readonly queuedDeliveries: number;
  /** Topic name and payload of a message. */
  readonly messageBytes: number;
  /** Minutes of topics in use, of all topics together. */
  readonly topicMinutes: number;
  /** The most clients at a time. */
  readonly clients: number;
  /** The most messages a second, in and out together. */
  readonly messagesPerSecond: number;
  /** The highest QoS in use. */
  readonly qos: 0 | 1 | 2;
}

/** Nothing happened. */
export const NO_TRAFFIC: Traffic = {
  connectionMinutes: 0,
  offlineSessionMinutes: 0,
  connects: 0,
  subscribes: 0,
  publishes: 0,
  deliveries: 0,
  acknowledgedDeliveries: 0,
  queuedDeliveries: 0,
  messageBytes: 0,
  topicMinutes: 0,
  clients: 0,
  messagesPerSecond: 0,
  qos: 0,
};
