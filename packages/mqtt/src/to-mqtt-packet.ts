import type { IConnectPacket, Packet as MqttPacket, UserProperties as MqttUserProperties } from 'mqtt-packet';
import type { ConnectPacket, Packet, ProtocolVersion, UserProperties, Will } from './packets.ts';
import { isFailure, ReasonCode } from './reason-codes.ts';

/** The packets that mqtt-packet encodes: all but PUBLISH. */
export type GeneratedPacket = Exclude<Packet, { type: 'publish' }>;

/** Gives a packet mqtt-packet's shape. */
export function toMqttPacket(packet: GeneratedPacket, version: ProtocolVersion): MqttPacket {
  const cmd = packet.type;
  switch (cmd) {
    case 'connect':
      return connect(packet);
    case 'connack':
      return {
        cmd,
        sessionPresent: packet.sessionPresent,
        reasonCode: packet.reasonCode,
        ...properties(packet),
      };
    case 'subscribe':
      return { cmd, messageId: packet.packetId, subscriptions: subscriptions(packet), ...properties(packet) };
    case 'suback':
      return {
        cmd,
        messageId: packet.packetId,
        granted: granted(packet.reasonCodes, version),
        ...properties(packet),
      };
    case 'unsubscribe':
      return {
        cmd,
        messageId: packet.packetId,
        unsubscriptions: [...packet.topicFilters],
        ...properties(packet),
      };
    case 'unsuback':
      return { cmd, messageId: packet.packetId, granted: [...packet.reasonCodes], ...properties(packet) };
    case 'pingreq':
    case 'pingresp':
      return { cmd };
    case 'disconnect':
    case 'auth':
      return { cmd, reasonCode: packet.reasonCode, ...properties(packet) };
    default:
      return { cmd, messageId: packet.packetId, reasonCode: packet.reasonCode, ...properties(packet) };
  }
}

function connect(packet: ConnectPacket): MqttPacket {
  const { protocolVersion, clientId, username, password, will } = packet;
  return {
    cmd: 'connect',
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    protocolVersion,
    clean: packet.cleanStart,
    keepalive: packet.keepAliveSeconds,
    clientId,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password: toBuffer(password) }),
    ...(will === undefined ? {} : { will: mqttWill(will) }),
    ...properties(packet),
  };
}

function mqttWill(will: Will): NonNullable<IConnectPacket['will']> {
  const { topic, qos, retain } = will;
  return { topic, qos, retain, payload: toBuffer(will.payload), ...properties(will) };
}

function subscriptions(packet: Extract<Packet, { type: 'subscribe' }>) {
  return packet.subscriptions.map(({ topicFilter, qos, noLocal, retainAsPublished, retainHandling }) => ({
    topic: topicFilter,
    qos,
    nl: noLocal,
    rap: retainAsPublished,
    rh: retainHandling,
  }));
}

/** MQTT 3.1.1 knows one failure [MQTT3-3.9.3-2]. */
function granted(reasonCodes: readonly number[], version: ProtocolVersion): number[] {
  return reasonCodes.map((code) => (version < 5 && isFailure(code) ? ReasonCode.UnspecifiedError : code));
}

/** mqtt-packet takes these properties as booleans. The Maximum QoS is a byte, which it takes as a number. */
const BOOLEANS: ReadonlySet<string> = new Set([
  'payloadFormatIndicator',
  'requestProblemInformation',
  'requestResponseInformation',
  'retainAvailable',
  'wildcardSubscriptionAvailable',
  'subscriptionIdentifiersAvailable',
  'sharedSubscriptionAvailable',
]);

interface MqttProperties {
  properties?: Record<string, never>;
}

/** Without properties there is no object: only then does mqtt-packet write the short form of acknowledgements. */
function properties(holder: { properties: object }): MqttProperties {
  const entries = Object.entries(holder.properties).filter(([, value]) => value !== undefined);
  if (entries.length === 0) return {};
  const converted = entries.map(([name, value]) => [name, toMqttValue(name, value)]);
  return { properties: Object.fromEntries(converted) };
}

function toMqttValue(name: string, value: unknown): unknown {
  if (BOOLEANS.has(name)) return value === 1;
  if (name === 'userProperties') return userProperties(value as UserProperties);
  return value instanceof Uint8Array ? toBuffer(value) : value;
}

/**
 * mqtt-packet takes one object of names, which would lose the order across names. It takes an array of values
 * for every property, though: one object for each pair keeps the order. `fromEntries` makes an own property
 * of any name, `__proto__` too.
 */
function userProperties(pairs: UserProperties): MqttUserProperties[] {
  return pairs.map(([name, value]) => Object.fromEntries([[name, value]]));
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
