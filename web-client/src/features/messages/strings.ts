/** Words for values that the code names. */
export const messagesWords = {
  columns: {
    time: 'Time',
    topic: 'Topic',
    payload: 'Payload',
    qos: 'QoS',
    flags: 'Flags',
    size: 'Size',
    latency: 'Latency',
    position: 'Position',
  },
  fates: {
    sent: { short: 'sent', long: 'Sent. At QoS 0 the server does not say whether it arrived.' },
    waiting: { short: '…', long: 'Sent, and not yet acknowledged.' },
    acknowledged: { short: 'ack', long: 'Acknowledged by the server.' },
    acknowledgedBlind: {
      short: 'ack',
      long: 'Acknowledged. That does not mean accepted: MQTT 3.1.1 cannot say that a PUBLISH was refused.',
    },
    noMatchingSubscribers: { short: 'ack', long: 'Acknowledged by the server: no matching subscribers.' },
    unknown: {
      short: '?',
      long: 'Of unknown fate: the connection was lost before the server answered. It is sent again on the next one.',
    },
    lost: {
      short: 'lost',
      long: 'Never acknowledged: the connection ended before, and it is not sent again.',
    },
  },
  streamKinds: {
    recovered: { short: 'rec', long: 'recovered: it came while there was no connection' },
    historical: { short: 'past', long: 'historical: it came before the subscription began' },
    snapshot: { short: 'last', long: 'snapshot: the last value of its key, or of its topic' },
  },
  kinds: { text: 'Text', regex: 'Regex', jsonpath: 'JSONPath' },
  queryHint: { text: 'In the payload', regex: 'Expression', jsonpath: '$.value > 20' },
  directions: { all: 'All', received: 'Received', published: 'Published' },
  panes: { subscriptions: 'Subscriptions', messages: 'Messages', publish: 'Publish' },
} as const;
