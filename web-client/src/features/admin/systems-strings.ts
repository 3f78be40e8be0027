/** Words for values that the code names. */
export const systemsWords = {
  columns: {
    name: 'Name',
    remote: 'Other side',
    status: 'State',
    in: 'In',
    lag: 'Behind',
    out: 'Out',
    waiting: 'Waiting',
    failed: 'Not carried',
    error: 'Last error',
    filter: 'Topic filter',
    target: 'Target',
    sent: 'Sent',
    dead: 'Dead letters',
  },
  status: { connecting: 'connecting', connected: 'well', disconnected: 'failing', stopped: 'stopped' },
} as const;
