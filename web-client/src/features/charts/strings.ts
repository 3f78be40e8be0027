/** Words for values that the code names. */
export const chartsWords = {
  sources: { value: 'Number in the payload', latency: 'Latency', missing: 'Missing messages' },
  outcomes: {
    added: 'The number is charted',
    exists: 'The number is charted already',
    full: 'There are {{count}} series already: remove one first',
  },
  sourceNotes: {
    value: 'A number in JSON, CBOR or MessagePack, or the payload itself.',
    latency: 'Of messages with a timestamp: a member or user property such as “timestamp”, “ts” or “sentAt”.',
    missing: 'Of messages with a sequence number: a member or user property such as “seq” or “counter”.',
  },
  windows: { 10: '10 s', 60: '1 min', 300: '5 min', 900: '15 min', 3600: '1 h', 21600: '6 h' },
} as const;
