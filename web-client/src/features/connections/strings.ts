/** Words for values that the code names. */
export const connectionsWords = {
  door: { node: 'node door', gateway: 'gateway door', object: 'object door' },
  version: { 4: 'MQTT 3.1.1', 5: 'MQTT 5.0' },
  editor: {
    urlHelp: {
      tcp: 'A browser cannot open {{scheme}}://, which is MQTT over TCP: it needs the WebSocket listener of the broker.',
      web: 'MQTT in a browser goes over WebSocket, not {{scheme}}://.',
      bare: 'A WebSocket URL begins with ws:// or wss://.',
    },
  },
} as const;
