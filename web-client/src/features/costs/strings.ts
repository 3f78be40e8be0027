export const costs = {
  title: 'Costs',
  intro:
    'The cost of a month of this traffic at the gateway door, at list prices of {{region}} in {{date}}, without free tiers.',
  observed: 'This connection, as observed',
  observedNone:
    'No message has passed yet: publish or receive some, and their sizes and rates can be taken over.',
  observedText:
    'Over the last {{duration}}: {{published}} published and {{received}} received an hour, {{bytes}} of payload on average.',
  observedLittle_one:
    'That is {{count}} message in {{duration}}: too little to say what a month brings. Watch for a minute at least.',
  observedLittle_other:
    'That is {{count}} messages in {{duration}}: too little to say what a month brings. Watch for a minute at least.',
  restsOnLittle_one: 'It rests on {{count}} message in {{duration}}, as if that went on all month.',
  restsOnLittle_other: 'It rests on {{count}} messages in {{duration}}, as if that went on all month.',
  take: 'Take it over',
  soFarText:
    'API Gateway has billed {{messages}} messages in {{frames}} frames: {{usd}}. Handlers, tables and queues come on top.',
  wouldText:
    'API Gateway would have billed {{messages}} messages in {{frames}} frames: {{usd}}. Here it is emulated, and nothing was billed.',
  soFarNode: 'The node door bills nothing by the message: you pay for its machine.',
  workload: 'The clients',
  fields: {
    clients: 'Clients',
    hours: 'Hours online a day',
    publishesPerHour: 'Messages each publishes an hour',
    fanOut: 'Recipients of a message',
    bytes: 'Payload',
    bytesUnit: 'bytes',
    subscriptions: 'Subscriptions each',
    qos: 'QoS',
    persistent: 'Sessions outlive their connections',
  },
  bill: 'The bill of a month',
  line: 'Line',
  quantity: 'Quantity',
  price: 'Price of one',
  perMillion: '{{usd}} / M',
  dollars: 'Dollars',
  share: 'Share',
  perClient: '{{usd}} for each client, {{perMillion}} for a million deliveries',
  elsewhere: 'The same traffic elsewhere',
  offer: 'Service',
  month: 'A month',
  misfit: 'Does not carry it',
  here: 'Apus, gateway door',
  nodeDoor: 'Apus, node door on one small machine',
  finding: 'Conclusion',
  assumptions: 'Assumptions',
  wrong: 'This cannot be estimated',
} as const;
