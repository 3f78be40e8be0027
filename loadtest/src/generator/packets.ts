import { generate, type IConnectPacket, type Packet, parser } from 'mqtt-packet';
import type { MqttVersion, Qos } from '../scenario/scenario.ts';

/** Types of MQTT Control Packets, as the first byte contains them. */
export const PacketType = {
  CONNACK: 2,
  PUBLISH: 3,
  PUBACK: 4,
  PUBREC: 5,
  PUBREL: 6,
  PUBCOMP: 7,
  SUBACK: 9,
  PINGRESP: 13,
  DISCONNECT: 14,
} as const;

export const PINGREQ = Buffer.from([0xc0, 0]);
export const DISCONNECT = Buffer.from([0xe0, 0]);

const ACKNOWLEDGEMENT_FLAGS: Readonly<Record<number, number>> = { 4: 0x40, 5: 0x50, 6: 0x62, 7: 0x70 };

export interface ConnectFields {
  readonly version: MqttVersion;
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly sessionExpirySeconds: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export function connectPacket(fields: ConnectFields): Buffer {
  const { username, password, sessionExpirySeconds } = fields;
  const packet: IConnectPacket = {
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: fields.version === '5' ? 5 : 4,
    clientId: fields.clientId,
    clean: fields.cleanStart,
    keepalive: fields.keepAliveSeconds,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: Buffer.from(password) }),
    ...(fields.version === '5' &&
      sessionExpirySeconds > 0 && { properties: { sessionExpiryInterval: sessionExpirySeconds } }),
  };
  return generate(packet);
}

export function subscribePacket(
  version: MqttVersion,
  packetId: number,
  filters: readonly string[],
  qos: Qos,
): Buffer {
  const packet: Packet = {
    cmd: 'subscribe',
    messageId: packetId,
    subscriptions: filters.map((topic) => ({ topic, qos })),
  };
  return generate(packet, { protocolVersion: version === '5' ? 5 : 4 });
}

/** PUBACK, PUBREC, PUBREL or PUBCOMP in its short form, which both versions read. */
export function acknowledgement(type: number, packetId: number): Buffer {
  return Buffer.from([ACKNOWLEDGEMENT_FLAGS[type] ?? 0, 2, packetId >> 8, packetId & 0xff]);
}

/** Reads a packet that is not on the hot path. */
export function readPacket(bytes: Buffer, version: MqttVersion): Packet | undefined {
  let packet: Packet | undefined;
  const reader = parser({ protocolVersion: version === '5' ? 5 : 4 });
  reader.on('packet', (read: Packet) => {
    packet = read;
  });
  reader.on('error', () => {});
  reader.parse(bytes);
  return packet;
}

/** A PUBLISH without its packet id and the header of its payload, which are written into a copy. */
export interface PublishTemplate {
  readonly bytes: Buffer;
  /** The offset of the packet id; undefined at QoS 0. */
  readonly packetIdAt: number | undefined;
  readonly payloadAt: number;
}

export function publishTemplate(
  version: MqttVersion,
  topic: string,
  qos: Qos,
  payloadBytes: number,
): PublishTemplate {
  const topicBytes = Buffer.byteLength(topic);
  const packetId = qos > 0 ? 2 : 0;
  const properties = version === '5' ? 1 : 0;
  const rest = 2 + topicBytes + packetId + properties + payloadBytes;
  const length = remainingLength(rest);
  const bytes = Buffer.alloc(1 + length.length + rest);
  bytes[0] = 0x30 | (qos << 1);
  length.copy(bytes, 1);
  const topicAt = 1 + length.length;
  bytes.writeUInt16BE(topicBytes, topicAt);
  bytes.write(topic, topicAt + 2);
  const afterTopic = topicAt + 2 + topicBytes;
  return {
    bytes,
    packetIdAt: qos > 0 ? afterTopic : undefined,
    payloadAt: afterTopic + packetId + properties,
  };
}

function remainingLength(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return Buffer.from(bytes);
}
