/** Tenants, what they use, and streams. */
export const tenants = {
  tab: 'Tenants',
  empty: 'There are no tenants but “default”.',
  columns: { name: 'Name', state: 'State', reason: 'Reason', since: 'Since', action: 'Action' },
  states: { active: 'active', suspended: 'suspended' },
  look: 'Show {{name}}',
  lookShort: 'Show',
  shown: 'Shown is the tenant “{{name}}”.',
  back: 'Show “default”',
  usage: {
    tab: 'Usage',
    step: 'Time of a point',
    steps: { hour: 'An hour, for two days', day: 'A day, for a month' },
    table: 'Usage by tenant',
    graph: 'Messages of all tenants over time',
    lines: { in: 'Messages in', out: 'Messages out' },
    empty: 'Nothing has been used in this time.',
    columns: {
      tenant: 'Tenant',
      hours: 'Connection hours',
      messagesIn: 'Messages in',
      messagesOut: 'Messages out',
      bytesIn: 'Bytes in',
      bytesOut: 'Bytes out',
    },
  },
  streams: {
    tab: 'Streams',
    empty: 'There are no streams.',
    columns: {
      name: 'Name',
      filter: 'Topic filter',
      topics: 'Topics',
      messages: 'Messages',
      bytes: 'Size',
    },
  },
} as const;
