/** The reason codes of MQTT 5.0 in words: the specification's name, and what to do. */
export const reasons = {
  x00: { title: 'Success', advice: '' },
  x01: { title: 'Granted QoS 1', advice: '' },
  x02: { title: 'Granted QoS 2', advice: '' },
  x04: {
    title: 'Disconnect with Will Message',
    advice: 'The client disconnected and asked for its will to be published.',
  },
  x10: {
    title: 'No matching subscribers',
    advice: 'The server accepted the message; its topic has no subscriber.',
  },
  x11: { title: 'No subscription existed', advice: 'There was nothing to unsubscribe from.' },
  x18: {
    title: 'Continue authentication',
    advice: 'The server wants another step of enhanced authentication.',
  },
  x19: { title: 'Re-authenticate', advice: 'The client began to authenticate again.' },
  x80: { title: 'Unspecified error', advice: 'The server does not say why. Its log may.' },
  x81: {
    title: 'Malformed Packet',
    advice:
      'The server could not read a packet. Something between client and server changes bytes, or one of them has a bug: look at the packets.',
  },
  x82: {
    title: 'Protocol Error',
    advice: 'A packet broke the rules of MQTT. Look at the last packets that were sent.',
  },
  x83: {
    title: 'Implementation specific error',
    advice: 'The packet was right, but this server does not take it. Its documentation or log says why.',
  },
  x84: { title: 'Unsupported Protocol Version', advice: 'Choose the other MQTT version in the connection.' },
  x85: {
    title: 'Client Identifier not valid',
    advice: 'Choose another client identifier, or leave it empty and let the server choose one.',
  },
  x86: {
    title: 'Bad User Name or Password',
    advice: 'Check both. The password was not stored unless you asked for it.',
  },
  x87: {
    title: 'Not authorized',
    advice: 'These credentials do not allow it. Ask the server’s operator for the right to do it.',
  },
  x88: {
    title: 'Server unavailable',
    advice: 'The server is there and cannot serve just now. It is tried again.',
  },
  x89: { title: 'Server busy', advice: 'The server has too much to do. It is tried again.' },
  x8a: { title: 'Banned', advice: 'This client was shut out by the server’s administrator.' },
  x8b: { title: 'Server shutting down', advice: 'The server stops or restarts. It is tried again.' },
  x8c: {
    title: 'Bad authentication method',
    advice: 'The server does not know this method, or it changed on the way.',
  },
  x8d: {
    title: 'Keep Alive timeout',
    advice: 'The server heard nothing for one and a half times the keep alive.',
  },
  x8e: {
    title: 'Session taken over',
    advice: 'Another client connected with the same client identifier. Give each its own.',
  },
  x8f: {
    title: 'Topic Filter invalid',
    advice: 'The filter is well formed, but this server does not take it from this client.',
  },
  x90: {
    title: 'Topic Name invalid',
    advice: 'The topic is well formed, but this server does not take it from this client.',
  },
  x91: {
    title: 'Packet Identifier in use',
    advice: 'Client and server have different states of the session. A clean start puts it right.',
  },
  x92: {
    title: 'Packet Identifier not found',
    advice: 'Client and server had different states of the session, which is harmless after a reconnect.',
  },
  x93: {
    title: 'Receive Maximum exceeded',
    advice: 'More QoS 1 and 2 messages were under way than the receiver allows. Send them more slowly.',
  },
  x94: {
    title: 'Topic Alias invalid',
    advice: 'The alias is 0, above the server’s maximum, or was never given a topic on this connection.',
  },
  x95: {
    title: 'Packet too large',
    advice:
      'The packet is larger than the receiver’s Maximum Packet Size, which stands in the connection’s facts.',
  },
  x96: { title: 'Message rate too high', advice: 'Send more slowly.' },
  x97: {
    title: 'Quota exceeded',
    advice:
      'A limit of the server is reached: of subscriptions, of retained messages, of sessions or of traffic.',
  },
  x98: { title: 'Administrative action', advice: 'An administrator closed the connection.' },
  x99: { title: 'Payload format invalid', advice: 'The payload is marked as UTF-8 text and is none.' },
  x9a: {
    title: 'Retain not supported',
    advice: 'This server keeps no retained messages. Publish without retain.',
  },
  x9b: { title: 'QoS not supported', advice: 'The server’s Maximum QoS is lower: choose a lower QoS.' },
  x9c: {
    title: 'Use another server',
    advice: 'The server sends the client elsewhere for now. The reference stands in the details.',
  },
  x9d: {
    title: 'Server moved',
    advice: 'The server has moved for good. The reference stands in the details.',
  },
  x9e: { title: 'Shared Subscriptions not supported', advice: 'Subscribe without $share.' },
  x9f: {
    title: 'Connection rate exceeded',
    advice: 'Too many connections were opened in a short time. It is tried again.',
  },
  xa0: {
    title: 'Maximum connect time',
    advice: 'The connection was as old as the server allows. It is opened again.',
  },
  xa1: {
    title: 'Subscription Identifiers not supported',
    advice: 'Set the subscription’s identifier to “none”.',
  },
  xa2: { title: 'Wildcard Subscriptions not supported', advice: 'Subscribe without + and #.' },
} as const;
