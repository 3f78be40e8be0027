/** What is said wherever a number may be charted: in Messages, too. */
export const charted = {
  open: 'Open the charts',
  outcomes: {
    added: 'The number is charted',
    exists: 'The number is charted already',
    full: 'There are {{count}} series already: remove one first',
  },
  sources: { value: 'Number in the payload', latency: 'Latency', missing: 'Missing messages' },
} as const;
