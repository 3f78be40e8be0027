import type { Packet, ProtocolVersion, Role } from '../src/index.ts';
import { type Bytes, binary, connectHead, packet, section, text } from './bytes.ts';

/** A packet and its bytes: encoding gives the bytes, and decoding gives the packet, from any pieces of the bytes. */
export interface Row {
  name: string;
  version: ProtocolVersion;
  /** The side that receives the packet. */
  receiver: Role;
  bytes: Buffer;
  packet: Packet;
  /** Why the encoder writes the packet in another way. */
  notCanonical?: string;
}

const NONE: Bytes = [0];
const bytesOf = (value: string) => Buffer.from(value);
const REASON = { reasonString: 'because', userProperties: [['k', 'v']] } as const;
const REASON_SECTION = section([0x1f, text('because'), 0x26, text('k'), text('v')]);

const connects: Row[] = [
  {
    name: 'CONNECT of MQTT 3.1',
    version: 3,
    receiver: 'server',
    bytes: packet(0x10, [connectHead(3, 0b0000_0010), text('client')]),
    packet: {
      type: 'connect',
      protocolVersion: 3,
      cleanStart: true,
      keepAliveSeconds: 60,
      clientId: 'client',
      properties: {},
    },
  },
  {
    name: 'CONNECT of MQTT 3.1.1 with everything',
    version: 4,
    receiver: 'server',
    bytes: packet(0x10, [
      connectHead(4, 0b1110_1100), // user name, password, will retain, will QoS 1, will
      text('client'),
      text('will/topic'),
      binary([1, 2]),
      text('user'),
      binary([0xff, 0x00]),
    ]),
    packet: {
      type: 'connect',
      protocolVersion: 4,
      cleanStart: false,
      keepAliveSeconds: 60,
      clientId: 'client',
      will: { topic: 'will/topic', payload: Buffer.from([1, 2]), qos: 1, retain: true, properties: {} },
      username: 'user',
      password: Buffer.from([0xff, 0x00]),
      properties: {},
    },
  },
  {
    name: 'CONNECT of MQTT 5.0 with everything',
    version: 5,
    receiver: 'server',
    bytes: packet(0x10, [
      connectHead(5, 0b1101_0110), // user name, password, will QoS 2, will, clean start
      section([
        [0x11, 0, 0, 0x0e, 0x10], // session expiry interval 3600
        [0x21, 0, 10], // receive maximum
        [0x27, 0, 0, 0x10, 0], // maximum packet size 4096
        [0x22, 0, 3], // topic alias maximum
        [0x19, 1], // request response information
        [0x17, 0], // request problem information
        [0x15, text('SCRAM')], // authentication method
        [0x16, binary([7])], // authentication data
        [0x26, text('a'), text('1')], // user properties, a name twice and another between
        [0x26, text('b'), text('2')],
        [0x26, text('a'), text('3')],
      ]),
      text(''),
      section([
        [0x18, 0, 0, 0, 5], // will delay interval
        [0x01, 1], // payload format indicator
        [0x02, 0, 0, 0, 60], // message expiry interval
        [0x03, text('text/plain')], // content type
        [0x08, text('answers')], // response topic
        [0x09, binary([1])], // correlation data
        [0x26, text('2'), text('x')], // names that an object would put in another order
        [0x26, text('1'), text('y')],
        [0x26, text('__proto__'), text('z')],
      ]),
      text('will'),
      binary([]),
      text(''),
      binary([]),
    ]),
    packet: {
      type: 'connect',
      protocolVersion: 5,
      cleanStart: true,
      keepAliveSeconds: 60,
      clientId: '',
      will: {
        topic: 'will',
        payload: Buffer.alloc(0),
        qos: 2,
        retain: false,
        properties: {
          willDelayInterval: 5,
          payloadFormatIndicator: 1,
          messageExpiryInterval: 60,
          contentType: 'text/plain',
          responseTopic: 'answers',
          correlationData: Buffer.from([1]),
          userProperties: [
            ['2', 'x'],
            ['1', 'y'],
            ['__proto__', 'z'],
          ],
        },
      },
      username: '',
      password: Buffer.alloc(0),
      properties: {
        sessionExpiryInterval: 3600,
        receiveMaximum: 10,
        maximumPacketSize: 4096,
        topicAliasMaximum: 3,
        requestResponseInformation: 1,
        requestProblemInformation: 0,
        authenticationMethod: 'SCRAM',
        authenticationData: Buffer.from([7]),
        userProperties: [
          ['a', '1'],
          ['b', '2'],
          ['a', '3'],
        ],
      },
    },
  },
  {
    name: 'CONNECT of MQTT 5.0 with a password alone, and without a client identifier or Clean Start',
    version: 5,
    receiver: 'server',
    bytes: packet(0x10, [connectHead(5, 0b0100_0000), NONE, text(''), binary([9, 8])]),
    packet: {
      type: 'connect',
      protocolVersion: 5,
      cleanStart: false,
      keepAliveSeconds: 60,
      clientId: '',
      password: Buffer.from([9, 8]),
      properties: {},
    },
  },
];

const connacks: Row[] = [
  {
    name: 'CONNACK of MQTT 3.1.1',
    version: 4,
    receiver: 'client',
    bytes: packet(0x20, [1, 0]),
    packet: { type: 'connack', sessionPresent: true, reasonCode: 0, properties: {} },
  },
  {
    name: 'CONNACK of MQTT 3.1.1 that refuses',
    version: 4,
    receiver: 'client',
    bytes: packet(0x20, [0, 5]),
    packet: { type: 'connack', sessionPresent: false, reasonCode: 0x87, properties: {} },
  },
  {
    name: 'CONNACK of MQTT 5.0 without properties',
    version: 5,
    receiver: 'client',
    bytes: packet(0x20, [0, 0x8c, NONE]),
    packet: { type: 'connack', sessionPresent: false, reasonCode: 0x8c, properties: {} },
  },
  {
    name: 'CONNACK of MQTT 5.0 with everything',
    version: 5,
    receiver: 'client',
    bytes: packet(0x20, [
      1,
      0,
      section([
        [0x11, 0xff, 0xff, 0xff, 0xff], // session expiry interval: never
        [0x21, 0xff, 0xff], // receive maximum
        [0x24, 1], // maximum QoS
        [0x25, 1], // retain available
        [0x27, 0xff, 0xff, 0xff, 0xff], // maximum packet size
        [0x12, text('given')], // assigned client identifier
        [0x22, 0, 0], // topic alias maximum
        [0x1f, text('because')], // reason string
        [0x26, text('k'), text('v')], // user property
        [0x28, 0], // wildcard subscription available
        [0x29, 1], // subscription identifiers available
        [0x2a, 0], // shared subscription available
        [0x13, 0, 30], // server keep alive
        [0x1a, text('info')], // response information
        [0x1c, text('other')], // server reference
        [0x15, text('m')], // authentication method
        [0x16, binary([1])], // authentication data
      ]),
    ]),
    packet: {
      type: 'connack',
      sessionPresent: true,
      reasonCode: 0,
      properties: {
        sessionExpiryInterval: 0xffff_ffff,
        receiveMaximum: 65_535,
        maximumQoS: 1,
        retainAvailable: 1,
        maximumPacketSize: 0xffff_ffff,
        assignedClientIdentifier: 'given',
        topicAliasMaximum: 0,
        ...REASON,
        wildcardSubscriptionAvailable: 0,
        subscriptionIdentifiersAvailable: 1,
        sharedSubscriptionAvailable: 0,
        serverKeepAlive: 30,
        responseInformation: 'info',
        serverReference: 'other',
        authenticationMethod: 'm',
        authenticationData: Buffer.from([1]),
      },
    },
  },
];

const publishes: Row[] = [
  {
    name: 'PUBLISH of MQTT 3.1.1 at QoS 0',
    version: 4,
    receiver: 'server',
    bytes: packet(0x30, [text('a/b'), ...bytesOf('hi')]),
    packet: {
      type: 'publish',
      topic: 'a/b',
      payload: bytesOf('hi'),
      qos: 0,
      retain: false,
      dup: false,
      packetId: 0,
      properties: {},
    },
  },
  {
    name: 'PUBLISH of MQTT 3.1.1 at QoS 2, again, retained and empty',
    version: 4,
    receiver: 'server',
    bytes: packet(0x3d, [text('a/b'), 0xff, 0xff]),
    packet: {
      type: 'publish',
      topic: 'a/b',
      payload: Buffer.alloc(0),
      qos: 2,
      retain: true,
      dup: true,
      packetId: 65_535,
      properties: {},
    },
  },
  {
    name: 'PUBLISH of MQTT 5.0 with everything a client may send',
    version: 5,
    receiver: 'server',
    bytes: packet(0x32, [
      text('ä/€/🦅'),
      [0, 1],
      section([
        [0x01, 0], // payload format indicator
        [0x02, 0, 0, 0, 0], // message expiry interval
        [0x23, 0, 1], // topic alias
        [0x03, text('')], // content type
        [0x08, text('answers')], // response topic
        [0x09, binary([])], // correlation data
        [0x26, text('b'), text('')], // user properties
        [0x26, text(''), text('a')],
        [0x26, text('b'), text('')],
      ]),
      [0, 255],
    ]),
    packet: {
      type: 'publish',
      topic: 'ä/€/🦅',
      payload: Buffer.from([0, 255]),
      qos: 1,
      retain: false,
      dup: false,
      packetId: 1,
      properties: {
        payloadFormatIndicator: 0,
        messageExpiryInterval: 0,
        topicAlias: 1,
        contentType: '',
        responseTopic: 'answers',
        correlationData: Buffer.alloc(0),
        userProperties: [
          ['b', ''],
          ['', 'a'],
          ['b', ''],
        ],
      },
    },
  },
  {
    name: 'PUBLISH of MQTT 5.0 to a client, with an alias for its topic and two subscription identifiers',
    version: 5,
    receiver: 'client',
    bytes: packet(0x30, [
      text(''),
      section([
        [0x23, 0xff, 0xff], // topic alias
        [0x0b, 1], // subscription identifiers
        [0x0b, 0xff, 0xff, 0xff, 0x7f],
      ]),
      bytesOf('x')[0] ?? 0,
    ]),
    packet: {
      type: 'publish',
      topic: '',
      payload: bytesOf('x'),
      qos: 0,
      retain: false,
      dup: false,
      packetId: 0,
      properties: { topicAlias: 65_535, subscriptionIdentifiers: [1, 268_435_455] },
    },
  },
];

const acknowledgements: Row[] = (
  [
    ['puback', 0x40, 0x87],
    ['pubrec', 0x50, 0x10],
    ['pubrel', 0x62, 0x92],
    ['pubcomp', 0x70, 0x92],
  ] as const
).flatMap(([type, firstByte, reasonCode]): Row[] => {
  const of = (version: ProtocolVersion, name: string, bytes: Buffer, packet: Packet): Row => ({
    name: `${type.toUpperCase()} of MQTT ${version === 5 ? '5.0' : '3.1.1'} ${name}`,
    version,
    receiver: 'server',
    bytes,
    packet,
  });
  const success: Packet = { type, packetId: 258, reasonCode: 0, properties: {} };
  const failure: Packet = { type, packetId: 258, reasonCode, properties: {} };
  return [
    of(4, '', packet(firstByte, [1, 2]), success),
    of(5, 'in its short form', packet(firstByte, [1, 2]), success),
    of(5, 'with a reason', packet(firstByte, [1, 2, reasonCode]), failure),
    {
      ...of(
        5,
        'with a reason code and an empty section',
        packet(firstByte, [1, 2, reasonCode, NONE]),
        failure,
      ),
      notCanonical: 'mqtt-packet writes the empty section out',
    },
    {
      ...of(5, 'that spells success out', packet(firstByte, [1, 2, 0, NONE]), success),
      notCanonical: 'success is written in its short form',
    },
    of(5, 'with properties', packet(firstByte, [1, 2, 0, REASON_SECTION]), {
      ...success,
      properties: REASON,
    }),
  ];
});

const subscriptions: Row[] = [
  {
    name: 'SUBSCRIBE of MQTT 3.1.1',
    version: 4,
    receiver: 'server',
    bytes: packet(0x82, [0, 9, text('a/#'), 1, text('b'), 0]),
    packet: {
      type: 'subscribe',
      packetId: 9,
      subscriptions: [
        { topicFilter: 'a/#', qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 },
        { topicFilter: 'b', qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 },
      ],
      properties: {},
    },
  },
  {
    name: 'SUBSCRIBE of MQTT 5.0 with every option',
    version: 5,
    receiver: 'server',
    bytes: packet(0x82, [
      [0, 9],
      section([0x0b, 0x80, 0x01, 0x26, text('k'), text('v')]), // subscription identifier 128, user property
      [text('$share/g/a/+'), 0b0000_0010], // QoS 2
      [text('b'), 0b0010_1101], // retain handling 2, retain as published, no local, QoS 1
      [text('c'), 0b0001_0000], // retain handling 1
    ]),
    packet: {
      type: 'subscribe',
      packetId: 9,
      subscriptions: [
        { topicFilter: '$share/g/a/+', qos: 2, noLocal: false, retainAsPublished: false, retainHandling: 0 },
        { topicFilter: 'b', qos: 1, noLocal: true, retainAsPublished: true, retainHandling: 2 },
        { topicFilter: 'c', qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 1 },
      ],
      properties: { subscriptionIdentifier: 128, userProperties: [['k', 'v']] },
    },
  },
  {
    name: 'SUBACK of MQTT 3.1.1',
    version: 4,
    receiver: 'client',
    bytes: packet(0x90, [0, 9, 0, 1, 2, 0x80]),
    packet: { type: 'suback', packetId: 9, reasonCodes: [0, 1, 2, 0x80], properties: {} },
  },
  {
    name: 'SUBACK of MQTT 5.0',
    version: 5,
    receiver: 'client',
    bytes: packet(0x90, [0, 9, REASON_SECTION, 2, 0x87, 0xa2]),
    packet: { type: 'suback', packetId: 9, reasonCodes: [2, 0x87, 0xa2], properties: REASON },
  },
  {
    name: 'UNSUBSCRIBE of MQTT 3.1.1',
    version: 4,
    receiver: 'server',
    bytes: packet(0xa2, [0, 9, text('a/#'), text('b')]),
    packet: { type: 'unsubscribe', packetId: 9, topicFilters: ['a/#', 'b'], properties: {} },
  },
  {
    name: 'UNSUBSCRIBE of MQTT 5.0',
    version: 5,
    receiver: 'server',
    bytes: packet(0xa2, [0, 9, section([0x26, text('k'), text('v')]), text('a/#')]),
    packet: {
      type: 'unsubscribe',
      packetId: 9,
      topicFilters: ['a/#'],
      properties: { userProperties: [['k', 'v']] },
    },
  },
  {
    name: 'UNSUBACK of MQTT 3.1.1',
    version: 4,
    receiver: 'client',
    bytes: packet(0xb0, [0, 9]),
    packet: { type: 'unsuback', packetId: 9, reasonCodes: [], properties: {} },
  },
  {
    name: 'UNSUBACK of MQTT 5.0',
    version: 5,
    receiver: 'client',
    bytes: packet(0xb0, [0, 9, NONE, 0, 0x11]),
    packet: { type: 'unsuback', packetId: 9, reasonCodes: [0, 0x11], properties: {} },
  },
];

const others: Row[] = [
  {
    name: 'PINGREQ',
    version: 4,
    receiver: 'server',
    bytes: packet(0xc0, []),
    packet: { type: 'pingreq' },
  },
  {
    name: 'PINGRESP',
    version: 5,
    receiver: 'client',
    bytes: packet(0xd0, []),
    packet: { type: 'pingresp' },
  },
  {
    name: 'DISCONNECT of MQTT 3.1.1',
    version: 4,
    receiver: 'server',
    bytes: packet(0xe0, []),
    packet: { type: 'disconnect', reasonCode: 0, properties: {} },
  },
  {
    name: 'DISCONNECT of MQTT 5.0 in its short form',
    version: 5,
    receiver: 'server',
    bytes: packet(0xe0, []),
    packet: { type: 'disconnect', reasonCode: 0, properties: {} },
  },
  {
    name: 'DISCONNECT of MQTT 5.0 with a reason code and no property length',
    version: 5,
    receiver: 'server',
    bytes: packet(0xe0, [4]),
    packet: { type: 'disconnect', reasonCode: 4, properties: {} },
    notCanonical: 'mqtt-packet writes the empty section out',
  },
  {
    name: 'DISCONNECT of MQTT 5.0 from a client with properties',
    version: 5,
    receiver: 'server',
    bytes: packet(0xe0, [4, section([0x11, 0, 0, 0, 0])]), // session expiry interval 0
    packet: { type: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 0 } },
  },
  {
    name: 'DISCONNECT of MQTT 5.0 from a server with properties',
    version: 5,
    receiver: 'client',
    bytes: packet(0xe0, [0x9d, section([0x1c, text('elsewhere')])]), // server reference
    packet: { type: 'disconnect', reasonCode: 0x9d, properties: { serverReference: 'elsewhere' } },
  },
  {
    name: 'AUTH from a client',
    version: 5,
    receiver: 'server',
    bytes: packet(0xf0, [0x18, section([0x15, text('m'), 0x16, binary([1])])]),
    packet: {
      type: 'auth',
      reasonCode: 0x18,
      properties: { authenticationMethod: 'm', authenticationData: Buffer.from([1]) },
    },
  },
  {
    name: 'AUTH from a server',
    version: 5,
    receiver: 'client',
    bytes: packet(0xf0, [0, NONE]),
    packet: { type: 'auth', reasonCode: 0, properties: {} },
  },
  {
    name: 'AUTH from a server in its short form',
    version: 5,
    receiver: 'client',
    bytes: packet(0xf0, []),
    packet: { type: 'auth', reasonCode: 0, properties: {} },
    notCanonical: 'mqtt.js and others that use mqtt-packet refuse it',
  },
];

export const ROWS: readonly Row[] = [
  ...connects,
  ...connacks,
  ...publishes,
  ...acknowledgements,
  ...subscriptions,
  ...others,
];
