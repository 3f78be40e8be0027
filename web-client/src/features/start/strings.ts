/** Words for values that the code names. */
export const startWords = {
  languages: { javascript: 'JavaScript', shell: 'Command line' },
  steps: {
    subscribe: { title: 'Subscribe', text: 'to {{filter}}, at QoS 2' },
    qos0: { title: 'QoS 0: at most once', text: 'sent and forgotten' },
    qos1: { title: 'QoS 1: at least once', text: 'the server acknowledges it with PUBACK' },
    qos2: { title: 'QoS 2: exactly once', text: 'four packets, so that it never comes twice' },
    retain: { title: 'Retain', text: 'the server keeps the last message of a topic for later subscribers' },
    newcomer: { title: 'B subscribes', text: 'and gets the retained message at once' },
  },
  directions: { out: 'client to server', in: 'server to client' },
} as const;
