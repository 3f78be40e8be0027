/** Words for values that the code names. */
export const tenantsWords = {
  streams: {
    columns: { name: 'Name', filter: 'Topic filter', topics: 'Topics', messages: 'Messages', bytes: 'Size' },
  },
  states: { active: 'active', suspended: 'suspended' },
  usage: {
    steps: { hour: 'An hour, for two days', day: 'A day, for a month' },
    columns: {
      tenant: 'Tenant',
      hours: 'Connection hours',
      messagesIn: 'Messages in',
      messagesOut: 'Messages out',
      bytesIn: 'Bytes in',
      bytesOut: 'Bytes out',
    },
  },
} as const;
