/** Current values (gauges) over all tenants: EMQX's names, each with its meaning. */
export const STATS = {
  'connections.count': 'Sessions, connected or waiting for their client.',
  'live_connections.count': 'Connected clients, at both doors.',
  'sessions.count': 'Sessions, connected or waiting for their client.',
  'subscriptions.count': 'Subscriptions of all sessions.',
  'subscriptions.shared.count': 'Shared subscriptions among them.',
  'retained.count': 'Retained messages.',
  'delayed.count': 'Messages that are published later.',
} as const;

/** Counters since the process started, over all tenants: EMQX's names, each with its meaning. */
export const METRICS = {
  'bytes.received': 'Bytes of MQTT packets from clients of the node door.',
  'bytes.sent': 'Bytes of MQTT packets to clients of the node door.',
  'packets.received': 'MQTT packets from clients of both doors.',
  'packets.sent': 'MQTT packets to clients: PUBLISH of both doors, others of the node door.',
  'packets.connect.received': 'CONNECT packets from clients.',
  'packets.connack.sent': 'CONNACK packets of the node door.',
  'packets.connack.error': 'CONNACK packets of the node door that refuse.',
  'packets.connack.auth_error': 'CONNACK packets of the node door that refuse a credential.',
  'packets.publish.received': 'PUBLISH packets from clients.',
  'packets.publish.sent': 'PUBLISH packets to clients.',
  'packets.puback.received': 'PUBACK packets from clients.',
  'packets.puback.sent': 'PUBACK packets of the node door.',
  'packets.pubrec.received': 'PUBREC packets from clients.',
  'packets.pubrec.sent': 'PUBREC packets of the node door.',
  'packets.pubrel.received': 'PUBREL packets from clients.',
  'packets.pubrel.sent': 'PUBREL packets of the node door.',
  'packets.pubcomp.received': 'PUBCOMP packets from clients.',
  'packets.pubcomp.sent': 'PUBCOMP packets of the node door.',
  'packets.subscribe.received': 'SUBSCRIBE packets from clients.',
  'packets.suback.sent': 'SUBACK packets of the node door.',
  'packets.unsubscribe.received': 'UNSUBSCRIBE packets from clients.',
  'packets.unsuback.sent': 'UNSUBACK packets of the node door.',
  'packets.pingreq.received': 'PINGREQ packets from clients.',
  'packets.pingresp.sent': 'PINGRESP packets of the node door.',
  'packets.disconnect.received': 'DISCONNECT packets from clients.',
  'packets.disconnect.sent': 'DISCONNECT packets of the node door.',
  'packets.auth.received': 'AUTH packets from clients.',
  'packets.auth.sent': 'AUTH packets of the node door.',
  'messages.received': 'Messages from clients.',
  'messages.sent': 'Messages to clients; a repetition counts again.',
  'messages.qos0.received': 'Messages of QoS 0 from clients.',
  'messages.qos0.sent': 'Messages to clients at QoS 0.',
  'messages.qos1.received': 'Messages of QoS 1 from clients.',
  'messages.qos1.sent': 'Messages to clients at QoS 1.',
  'messages.qos2.received': 'Messages of QoS 2 from clients.',
  'messages.qos2.sent': 'Messages to clients at QoS 2.',
  'messages.dropped': 'Messages that reached no session.',
  'messages.dropped.no_subscribers': 'Messages that had no subscriber.',
  'messages.validation_succeeded': 'Payloads that the schema of their topic allows.',
  'messages.validation_failed':
    'Payloads that were refused, or at QoS 0 dropped, since the schema of their topic does not allow them.',
  'delivery.dropped': 'Messages that did not reach a session that they were for.',
  'delivery.dropped.queue_full': 'At QoS 1 or 2: the queue of the session was full.',
  'delivery.dropped.qos0_msg': 'At QoS 0: the client did not read what it had been sent.',
  'delivery.dropped.too_large': 'Larger than the client or its door takes.',
  'delivery.dropped.not_authorized': 'The rules changed while the message waited.',
  'delivery.dropped.identity_expired': 'At QoS 0: the identity of the client had expired.',
  'delivery.dropped.filter':
    'Messages that did not fit the condition of a subscription. They are not in `delivery.dropped`.',
} as const;

export type StatName = keyof typeof STATS;
export type MetricName = keyof typeof METRICS;
export type Figures<Name extends string> = Readonly<Record<Name, number>>;
