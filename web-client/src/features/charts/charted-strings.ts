/** The strings of every view from which a number can be charted, Messages among them. */
export const charted = {
  open: 'Open the charts',
  outcomes: {
    added: 'The number is charted',
    exists: 'The number is charted already',
    full: 'There are {{count}} series already: remove one first',
  },
  sources: { value: 'Number in the payload', latency: 'Latency', missing: 'Missing messages' },
} as const;
