/** Words for values that the code names. */
export const boundsWords = {
  states: { closed: 'closed', tripped: 'tripped' },
  quotas: {
    columns: { scope: 'Of', name: 'Quota', used: 'Used', max: 'At most' },
    scopes: {
      tenant: 'this tenant',
      identity: 'each identity, unless it has its own',
      broker: 'all tenants together',
    },
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
      delayedMessagesMax: 'Delayed messages',
      delayedBytesMax: 'Bytes of delayed messages',
    },
  },
} as const;
