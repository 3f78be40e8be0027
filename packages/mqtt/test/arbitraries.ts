import fc from 'fast-check';
import type {
  AcknowledgementPacket,
  AuthPacket,
  ConnackPacket,
  ConnectPacket,
  DisconnectPacket,
  MessageProperties,
  Packet,
  ProtocolVersion,
  PublishPacket,
  Role,
  SubackPacket,
  SubscribePacket,
  UnsubackPacket,
  UnsubscribePacket,
} from '../src/index.ts';
import { reasonCodesOf } from '../src/index.ts';

/** Something that may be sent, in which version and to whom. */
export interface Sent<P extends Packet = Packet> {
  version: ProtocolVersion;
  receiver: Role;
  packet: P;
}

/** Any text that MQTT allows; a few names that trip up objects and decoders among it. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map(withoutNull) },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', '\ufeffbom', '1', '') },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }).map(withoutNull) },
);
const someText = text.map((value) => value || 'x');
export const topicName: fc.Arbitrary<string> = someText.map((value) => value.replaceAll(/[+#]/g, '-'));
const binary = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const uint16 = fc.integer({ min: 0, max: 65_535 });
const uint32 = fc.oneof(fc.integer({ min: 0, max: 0xffff_ffff }), fc.constantFrom(0, 1, 0xffff_ffff));
const positive16 = fc.integer({ min: 1, max: 65_535 });
const positive32 = fc.integer({ min: 1, max: 0xffff_ffff });
const subscriptionIdentifier = fc.oneof(
  fc.integer({ min: 1, max: 268_435_455 }),
  fc.constantFrom(1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455),
);
const bit = fc.constantFrom<0 | 1>(0, 1);
const qos = fc.constantFrom<0 | 1 | 2>(0, 1, 2);
const version = fc.constantFrom<ProtocolVersion>(3, 4, 5);
const receiver = fc.constantFrom<Role>('server', 'client');
const userProperties = fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 });

function withoutNull(value: string): string {
  return value.replaceAll('\0', '');
}

/** A record of which each key may be missing. */
function optional<T>(model: { [K in keyof T]-?: fc.Arbitrary<Exclude<T[K], undefined>> }): fc.Arbitrary<T> {
  return fc.record(model, { requiredKeys: [], noNullPrototype: true }) as fc.Arbitrary<T>;
}

const message = {
  payloadFormatIndicator: bit,
  contentType: text,
  responseTopic: topicName,
  correlationData: binary,
  userProperties,
} satisfies { [K in keyof MessageProperties]-?: unknown };
const withReason = { reasonString: text, userProperties };

/** Authentication data never comes without its method. */
function withMethod<T extends { authenticationMethod?: string; authenticationData?: Uint8Array }>(
  properties: T,
): T {
  return properties.authenticationData === undefined
    ? properties
    : { authenticationMethod: 'm', ...properties };
}

/** Properties exist in MQTT 5.0 only. */
function propertiesIn<T extends object>(
  inVersion: ProtocolVersion,
  properties: T,
): T | Record<string, never> {
  return inVersion === 5 ? properties : {};
}

const connect: fc.Arbitrary<Sent<ConnectPacket>> = fc
  .record({
    version,
    cleanStart: fc.boolean(),
    keepAliveSeconds: uint16,
    clientId: text,
    username: fc.option(text, { nil: undefined }),
    password: fc.option(binary, { nil: undefined }),
    will: fc.option(
      fc.record({
        topic: topicName,
        payload: binary,
        qos,
        retain: fc.boolean(),
        properties: optional({ ...message, willDelayInterval: uint32, messageExpiryInterval: uint32 }),
      }),
      { nil: undefined },
    ),
    properties: optional<ConnectPacket['properties']>({
      sessionExpiryInterval: uint32,
      receiveMaximum: positive16,
      maximumPacketSize: positive32,
      topicAliasMaximum: uint16,
      requestResponseInformation: bit,
      requestProblemInformation: bit,
      authenticationMethod: text,
      authenticationData: binary,
      userProperties,
    }).map(withMethod),
  })
  .map(({ version, will, username, password, ...rest }) => ({
    version,
    receiver: 'server',
    packet: {
      type: 'connect',
      protocolVersion: version,
      cleanStart: rest.cleanStart,
      keepAliveSeconds: rest.keepAliveSeconds,
      clientId: version === 5 ? rest.clientId : rest.clientId || 'c',
      ...(username === undefined ? {} : { username }),
      ...(password === undefined || (version < 5 && username === undefined) ? {} : { password }),
      ...(will === undefined
        ? {}
        : { will: { ...will, properties: propertiesIn(version, will.properties) } }),
      properties: propertiesIn(version, rest.properties),
    },
  }));

const connack: fc.Arbitrary<Sent<ConnackPacket>> = fc
  .record({
    version,
    sessionPresent: fc.boolean(),
    reasonCode: fc.constantFrom(...reasonCodesOf('connack', 'client')),
    oldReasonCode: fc.constantFrom(0x00, 0x84, 0x85, 0x88, 0x86, 0x87),
    properties: optional<ConnackPacket['properties']>({
      ...withReason,
      sessionExpiryInterval: uint32,
      receiveMaximum: positive16,
      maximumQoS: bit,
      retainAvailable: bit,
      maximumPacketSize: positive32,
      assignedClientIdentifier: text,
      topicAliasMaximum: uint16,
      wildcardSubscriptionAvailable: bit,
      subscriptionIdentifiersAvailable: bit,
      sharedSubscriptionAvailable: bit,
      serverKeepAlive: uint16,
      responseInformation: text,
      serverReference: text,
      authenticationMethod: text,
      authenticationData: binary,
    }).map(withMethod),
  })
  .map(({ version, sessionPresent, reasonCode, oldReasonCode, properties }) => ({
    version,
    receiver: 'client',
    packet: {
      type: 'connack',
      sessionPresent: sessionPresent && version !== 3,
      reasonCode: version === 5 ? reasonCode : oldReasonCode,
      properties: propertiesIn(version, properties),
    },
  }));

export const publish: fc.Arbitrary<Sent<PublishPacket>> = fc
  .record({
    version,
    receiver,
    topic: topicName,
    isAliased: fc.boolean(),
    payload: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    qos,
    retain: fc.boolean(),
    dup: fc.boolean(),
    packetId: positive16,
    properties: optional<PublishPacket['properties']>({
      ...message,
      messageExpiryInterval: uint32,
      topicAlias: positive16,
      subscriptionIdentifiers: fc.array(subscriptionIdentifier, { minLength: 1, maxLength: 4 }),
    }),
  })
  .map(({ version, receiver, isAliased, ...packet }) => {
    const { subscriptionIdentifiers, ...fromClient } = packet.properties;
    const properties = propertiesIn(version, receiver === 'server' ? fromClient : packet.properties);
    return {
      version,
      receiver,
      packet: {
        type: 'publish',
        ...packet,
        topic: isAliased && 'topicAlias' in properties ? '' : packet.topic,
        dup: packet.dup && packet.qos > 0,
        packetId: packet.qos > 0 ? packet.packetId : 0,
        properties,
      },
    };
  });

const acknowledgement: fc.Arbitrary<Sent<AcknowledgementPacket>> = fc
  .record({
    version,
    receiver,
    type: fc.constantFrom<AcknowledgementPacket['type']>('puback', 'pubrec', 'pubrel', 'pubcomp'),
    packetId: positive16,
    pick: fc.nat(),
    properties: optional(withReason),
  })
  .map(({ version, receiver, type, packetId, pick, properties }) => ({
    version,
    receiver,
    packet: {
      type,
      packetId,
      reasonCode: version === 5 ? oneOf(reasonCodesOf(type, receiver), pick) : 0,
      properties: propertiesIn(version, properties),
    },
  }));

const subscribe: fc.Arbitrary<Sent<SubscribePacket>> = fc
  .record({
    version,
    packetId: positive16,
    subscriptions: fc.array(
      fc.record({
        topicFilter: text,
        qos,
        noLocal: fc.boolean(),
        retainAsPublished: fc.boolean(),
        retainHandling: fc.constantFrom<0 | 1 | 2>(0, 1, 2),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    properties: optional({ subscriptionIdentifier, userProperties }),
  })
  .map(({ version, packetId, subscriptions, properties }) => ({
    version,
    receiver: 'server',
    packet: {
      type: 'subscribe',
      packetId,
      subscriptions: subscriptions.map((subscription) =>
        version === 5
          ? { ...subscription }
          : { ...subscription, noLocal: false, retainAsPublished: false, retainHandling: 0 as const },
      ),
      properties: propertiesIn(version, properties),
    },
  }));

const suback: fc.Arbitrary<Sent<SubackPacket>> = fc
  .record({
    version,
    packetId: positive16,
    reasonCodes: fc.array(fc.constantFrom(...reasonCodesOf('suback', 'client')), {
      minLength: 1,
      maxLength: 4,
    }),
    properties: optional(withReason),
  })
  .map(({ version, packetId, reasonCodes, properties }) => ({
    version,
    receiver: 'client',
    packet: {
      type: 'suback',
      packetId,
      reasonCodes: version === 5 ? reasonCodes : reasonCodes.map((code) => Math.min(code, 0x80)),
      properties: propertiesIn(version, properties),
    },
  }));

const unsubscribe: fc.Arbitrary<Sent<UnsubscribePacket>> = fc
  .record({
    version,
    packetId: positive16,
    topicFilters: fc.array(text, { minLength: 1, maxLength: 4 }),
    properties: optional({ userProperties }),
  })
  .map(({ version, packetId, topicFilters, properties }) => ({
    version,
    receiver: 'server',
    packet: { type: 'unsubscribe', packetId, topicFilters, properties: propertiesIn(version, properties) },
  }));

const unsuback: fc.Arbitrary<Sent<UnsubackPacket>> = fc
  .record({
    version,
    packetId: positive16,
    reasonCodes: fc.array(fc.constantFrom(...reasonCodesOf('unsuback', 'client')), {
      minLength: 1,
      maxLength: 4,
    }),
    properties: optional(withReason),
  })
  .map(({ version, packetId, reasonCodes, properties }) => ({
    version,
    receiver: 'client',
    packet: {
      type: 'unsuback',
      packetId,
      reasonCodes: version === 5 ? reasonCodes : [],
      properties: propertiesIn(version, properties),
    },
  }));

const ping: fc.Arbitrary<Sent> = version.chain((version) =>
  fc.constantFrom<Sent>(
    { version, receiver: 'server', packet: { type: 'pingreq' } },
    { version, receiver: 'client', packet: { type: 'pingresp' } },
  ),
);

const disconnect: fc.Arbitrary<Sent<DisconnectPacket>> = fc
  .record({
    version,
    receiver,
    pick: fc.nat(),
    properties: optional<DisconnectPacket['properties']>({
      ...withReason,
      sessionExpiryInterval: uint32,
      serverReference: text,
    }),
  })
  .map(({ version, receiver, pick, properties }) => {
    const { sessionExpiryInterval, serverReference, ...both } = properties;
    const fromClient = sessionExpiryInterval === undefined ? both : { ...both, sessionExpiryInterval };
    const fromServer = serverReference === undefined ? both : { ...both, serverReference };
    return {
      version,
      receiver,
      packet: {
        type: 'disconnect',
        reasonCode: version === 5 ? oneOf(reasonCodesOf('disconnect', receiver), pick) : 0,
        properties: propertiesIn(version, receiver === 'server' ? fromClient : fromServer),
      },
    };
  });

const auth: fc.Arbitrary<Sent<AuthPacket>> = fc
  .record({
    receiver,
    pick: fc.nat(),
    authenticationMethod: text,
    properties: optional<Omit<AuthPacket['properties'], 'authenticationMethod'>>({
      ...withReason,
      authenticationData: binary,
    }),
  })
  .map(({ receiver, pick, authenticationMethod, properties }) => ({
    version: 5,
    receiver,
    packet: {
      type: 'auth',
      reasonCode: oneOf(reasonCodesOf('auth', receiver), pick),
      properties: { authenticationMethod, ...properties },
    },
  }));

function oneOf(values: ReadonlySet<number>, pick: number): number {
  return [...values][pick % values.size] ?? 0;
}

/** Any packet that one side may send the other. */
export const sent: fc.Arbitrary<Sent> = fc.oneof<fc.Arbitrary<Sent>[]>(
  connect,
  connack,
  publish,
  acknowledgement,
  subscribe,
  suback,
  unsubscribe,
  unsuback,
  ping,
  disconnect,
  auth,
);

/** Any packets but CONNECT in a row, of one connection of MQTT 5.0. */
export const stream: fc.Arbitrary<{ receiver: Role; packets: Packet[] }> = receiver.chain((receiver) =>
  fc
    .array(
      sent.filter((one) => one.version === 5 && one.receiver === receiver && one.packet.type !== 'connect'),
      { minLength: 1, maxLength: 8 },
    )
    .map((all) => ({ receiver, packets: all.map((one) => one.packet) })),
);

/** Few and short levels, so that filters and names meet; `$` and empty ones among them. */
const level = fc.constantFrom('', 'a', 'b', '$', '$x', '__proto__');
const filterLevel = fc.oneof({ weight: 2, arbitrary: level }, { weight: 1, arbitrary: fc.constant('+') });

export const name: fc.Arbitrary<string> = fc
  .array(level, { minLength: 1, maxLength: 5 })
  .map((levels) => levels.join('/'))
  .filter((value) => value !== '');

export const filter: fc.Arbitrary<string> = fc
  .tuple(fc.array(filterLevel, { maxLength: 5 }), fc.boolean())
  .map(([levels, hasHash]) => (hasHash ? [...levels, '#'] : levels).join('/'))
  .filter((value) => value !== '');
