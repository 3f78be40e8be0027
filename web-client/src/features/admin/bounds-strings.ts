/** The breaker and quotas. */
export const bounds = {
  refresh: 'Refresh the numbers',
  thisMonth: 'this month',
  breaker: 'Breaker',
  states: { closed: 'closed', tripped: 'tripped' },
  lastMinute: 'Gateway messages a minute',
  ofMax: 'of {{max}}, {{time}}',
  none: 'none of late',
  tripped: 'The breaker has tripped',
  trippedText_one:
    'Since {{since}} all clients together may send {{count}} frame a second. Messages that wait for workers, rules and bridges stay in their queues, and backends are refused.',
  trippedText_other:
    'Since {{since}} all clients together may send {{count}} frames a second. Messages that wait for workers, rules and bridges stay in their queues, and backends are refused.',
  closesAt: 'It closes by itself at the first look after {{time}}; there is one every ten minutes.',
  closesNever: 'It stays so until somebody resets it.',
  limit:
    'It trips at more than {{max}} gateway messages in a minute. The runbook (“Runaway”) says how to find the cause.',
  unknownTime: 'an unknown time',
  quotas: {
    tab: 'Quotas',
    empty: 'Nothing is bounded.',
    columns: { scope: 'Of', name: 'Quota', used: 'Used', max: 'At most' },
    scopes: {
      tenant: 'this tenant',
      identity: 'each identity, unless it has its own',
      broker: 'all tenants together',
    },
    usedOf: '{{used}} of {{max}}',
    notCounted: 'not counted here',
    ofEach: 'each for itself',
    names: {
      packetsPerSecondMax: 'Packets a second',
      framesPerSecondMax: 'Frames a second',
      publishesPerSecondMax: 'Publishes a second',
      bytesPerSecondMax: 'Bytes a second',
      writesPerMinuteMax: 'Writes a minute',
      deliveriesPerMinuteMax: 'Deliveries a minute',
      messagesPerMinuteMax: 'Gateway messages a minute',
      connectionsMax: 'Connections',
      sessionsMax: 'Sessions',
      subscriptionsMax: 'Subscriptions',
      retainedMessagesMax: 'Retained messages',
      retainedBytesMax: 'Bytes of retained messages',
      queuedBytesMax: 'Bytes of waiting messages',
    },
  },
} as const;
