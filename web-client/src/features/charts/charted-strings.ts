/** Words for values that the code names. */
export const chartedWords = {
  sources: { value: 'Number in the payload', latency: 'Latency', missing: 'Missing messages' },
  outcomes: {
    added: 'The number is charted',
    exists: 'The number is charted already',
    full: 'There are {{count}} series already: remove one first',
  },
} as const;
