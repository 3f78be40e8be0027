/** Errors besides reason codes, with advice. */
export const troubles = {
  closed: {
    title: 'The connection was closed ({{code}})',
    advice: 'The server or something on the way closed the WebSocket. It gave no reason.',
  },
  unreachable: {
    title: 'The server cannot be reached',
    advice:
      'Is it running? Do host, port and path of the URL fit? Does the server want a token, as a deployment of Apus does? Does it let web pages of this address in, and is its certificate trusted by the browser? Browsers do not say which of these it was.',
  },
  lost: {
    title: 'The connection was cut',
    advice: 'The network or the server ended it without a word. It is tried again.',
  },
  goingAway: {
    title: 'The server went away (1001)',
    advice:
      'It stops, or the gateway ended the connection: after ten idle minutes, or two hours. It is tried again.',
  },
  binary: {
    title: 'The server takes text frames only (1003)',
    advice: 'This is a gateway door: choose “gateway” as the connection’s door.',
  },
  policy: {
    title: 'The server refused to go on (1008)',
    advice: 'It throttles the client, or a rule of its own was broken.',
  },
  tooLarge: { title: 'A frame was too large (1009)', advice: 'Send smaller messages.' },
  serverError: { title: 'The server failed (1011)', advice: 'Its log says why. It is tried again.' },
  restart: { title: 'The server restarts (1012)', advice: 'It is tried again.' },
  url: {
    title: 'This is no WebSocket URL',
    advice: 'It begins with ws:// or wss:// and has no #, as in wss://broker.example/mqtt.',
  },
  mixedContent: {
    title: 'A secure page may not use an insecure connection',
    advice:
      'This page came over https: the browser allows it wss:// only. Use the server’s wss:// address, or open this page over http.',
  },
  noDoor: {
    title: 'No MQTT is spoken there',
    advice:
      'The server accepted the WebSocket with neither of the subprotocols “mqtt” and “mqtt-text-v1”. Check the path of the URL.',
  },
  connectTimeout: {
    title: 'No answer in time',
    advice:
      'The server took the connection and did not answer CONNECT. Is it an MQTT server? Is it overloaded?',
  },
  keepAlive: {
    title: 'The server fell silent',
    advice: 'It did not answer PINGREQ. The connection was given up and is tried again.',
  },
  protocol: { title: 'The server broke the rules of MQTT', advice: 'Look at the last packets that came.' },
  transport: { title: 'The gateway door had a problem', advice: '' },
  offline: { title: 'Not connected', advice: 'Connect first.' },
  invalid: { title: 'Not sent', advice: '' },
  packetTooLarge: {
    title: 'Too large for the server',
    advice: 'It would have ended the connection, and was not sent. Send a smaller message.',
  },
} as const;
