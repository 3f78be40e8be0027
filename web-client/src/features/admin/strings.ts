/** Words for values that the code names. */
export const adminWords = {
  ban: {
    kinds: { clientid: 'Client identifier', username: 'User', peerhost: 'IP address', token: 'Token' },
    hints: {
      clientid: 'The whole identifier',
      username: 'The name that the client authenticates with',
      peerhost: 'IPv4 or IPv6, without a port',
      token: 'The identifier of the token (jti)',
    },
    durations: { hour: 'One hour', day: 'One day', week: 'One week', forever: 'Until it is lifted' },
  },
  client: {
    reasons: {
      queue_full: 'Queue full',
      qos0_msg: 'QoS 0, client too slow',
      too_large: 'Too large',
      not_authorized: 'Not authorized',
      identity_expired: 'Identity expired',
    },
  },
  cloudMetrics: {
    connections: 'connections, and handshakes a minute',
    messages: 'MQTT messages in and out, and messages that the gateway bills',
    fanOut: 'how long the fan-out takes, and how much waits for it',
    trouble: 'posts that did not arrive, messages dropped, clients refused',
    cost: 'dollars an hour',
  },
  errors: {
    key: 'The key is not right',
    refused: 'The broker has refused',
    unreachable: 'The broker does not answer',
  },
} as const;
