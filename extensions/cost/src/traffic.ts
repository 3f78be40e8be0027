/** The clients' traffic, independent of a service: the prices of other services are computed from it. */
export interface Traffic {
  /** Minutes of all clients together. */
  readonly connectionMinutes: number;
  /** Minutes of persistent sessions whose clients are away. */
  readonly offlineSessionMinutes: number;
  readonly connects: number;
  /** SUBSCRIBE packets. */
  readonly subscribes: number;
  /** SUBSCRIBE packets that sessions save which outlive their connections. */
  readonly savedSubscribes: number;
  readonly publishes: number;
  /** Messages that have reached a subscriber, or are on their way to one. */
  readonly deliveries: number;
  /** Deliveries that the subscriber acknowledges: QoS 2, and QoS 1 to sessions that outlive their connections. */
  readonly acknowledgedDeliveries: number;
  /** The other deliveries of QoS 1: at the gateway door their subscribers send no PUBACK. */
  readonly sparedAcknowledgements: number;
  /** Deliveries that were stored for a client that was away. */
  readonly queuedDeliveries: number;
  /** Share of the clients whose session outlives its connection, from 0 to 1. */
  readonly persistentShare: number;
  /** Published messages that readers may ask for later. */
  readonly streamedMessages: number;
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
  savedSubscribes: 0,
  publishes: 0,
  deliveries: 0,
  acknowledgedDeliveries: 0,
  sparedAcknowledgements: 0,
  queuedDeliveries: 0,
  persistentShare: 0,
  streamedMessages: 0,
  messageBytes: 0,
  topicMinutes: 0,
  clients: 0,
  messagesPerSecond: 0,
  qos: 0,
};
