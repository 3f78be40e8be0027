/** Words for values that the code names. */
export const subscriptionsWords = {
  beginnings: {
    none: 'As the broker does by itself',
    now: 'Now, and read the stream from here',
    count: 'With the last messages',
    span: 'With those of the last minutes, hours or days',
    earliest: 'With the oldest that is kept',
    time: 'From a time on',
    position: 'Behind a position',
  },
  beginningValues: { count: 'Messages of each topic', span: 'Time span', time: 'Time', position: 'Position' },
  beginningHints: {
    count: 'A number, as 50',
    span: 'A number with s, m, h or d, as 10m',
    time: '2026-11-25T10:00:00Z, or milliseconds since 1970',
    position:
      'The stream position of a message; for a filter with wildcards a line for each topic, with the topic behind it',
  },
  colors: {
    blue: 'blue',
    teal: 'teal',
    grape: 'purple',
    orange: 'orange',
    pink: 'pink',
    lime: 'lime',
    cyan: 'cyan',
    red: 'red',
    violet: 'violet',
    yellow: 'yellow',
  },
  retainHandlings: {
    0: 'Send them at each subscribe',
    1: 'Send them if the subscription is new',
    2: 'Do not send them',
  },
  status: { off: 'off', waiting: 'waiting …', granted: 'QoS {{qos}}', refused: 'refused' },
} as const;
