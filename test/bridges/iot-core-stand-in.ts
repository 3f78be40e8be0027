import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type TLSSocket } from 'node:tls';
import { matches } from '@apus/mqtt';
import { generate, type IPublishPacket, type Packet, parser } from 'mqtt-packet';
import { onTestFinished } from 'vitest';

const V5 = { protocolVersion: 5 };
const TOPIC_FILTERS_MAX = 8;
const SLASHES_MAX = 7;
const TOPIC_BYTES_MAX = 256;
const PAYLOAD_BYTES_MAX = 128 * 1024;
const QUOTA_EXCEEDED = 0x97;

export interface IotCoreStandIn {
  readonly port: number;
  /** Messages that clients have sent, in order, including those that it answered with 0x97. */
  readonly published: IPublishPacket[];
  /** Connections that it has ended because a client exceeded a limit. */
  readonly ended: string[];
  /** ALPN protocols that clients have offered. */
  readonly protocols: (string | false | null)[];
  /** Answers this many of the next PUBLISH packets with 0x97. */
  throttle(count: number): void;
}

interface Client {
  readonly socket: TLSSocket;
  readonly filters: Set<string>;
}

/**
 * An MQTT 5 broker over mutual TLS with the limits that AWS IoT Core documents: it ends the connection of a client that
 * exceeds one, has no QoS 2, and sends a client its own messages in spite of "no local". It keeps no
 * sessions.
 */
export async function startIotCoreStandIn(certificates: string): Promise<IotCoreStandIn> {
  const file = (name: string) => readFileSync(join(certificates, name));
  const clients = new Set<Client>();
  const sockets = new Set<TLSSocket>();
  const [published, ended, protocols]: [IPublishPacket[], string[], (string | false | null)[]] = [[], [], []];
  let throttled = 0;
  const server = createServer({
    ...{ key: file('server.key'), cert: file('server.pem'), ca: file('ca.pem') },
    ...{ requestCert: true, rejectUnauthorized: true, ALPNProtocols: ['x-amzn-mqtt-ca'] },
  });

  const route = (packet: IPublishPacket) => {
    for (const { socket, filters } of clients)
      if ([...filters].some((filter) => matches(filter, packet.topic)))
        socket.write(generate({ ...packet, qos: 0, dup: false }, V5));
  };
  const take = (packet: IPublishPacket, socket: TLSSocket) => {
    published.push(packet);
    const isThrottled = throttled > 0;
    if (isThrottled) throttled -= 1;
    else route(packet);
    const reasonCode = isThrottled ? QUOTA_EXCEEDED : 0;
    if (packet.qos > 0)
      socket.write(generate({ cmd: 'puback', messageId: packet.messageId ?? 0, reasonCode }, V5));
  };
  const handle = (client: Client, packet: Packet) => {
    const { socket } = client;
    const why = limitOf(packet);
    if (why !== undefined) {
      ended.push(why);
      socket.end(generate({ cmd: 'disconnect', reasonCode: 0x83 }, V5));
      return;
    }
    if (packet.cmd === 'connect') {
      const properties = { maximumQoS: 1, receiveMaximum: 100, maximumPacketSize: 149_504 };
      socket.write(generate({ cmd: 'connack', reasonCode: 0, sessionPresent: false, properties }, V5));
    } else if (packet.cmd === 'subscribe') {
      for (const { topic } of packet.subscriptions) client.filters.add(topic);
      const granted = packet.subscriptions.map(({ qos }) => qos);
      socket.write(generate({ cmd: 'suback', messageId: packet.messageId ?? 0, granted }, V5));
    } else if (packet.cmd === 'publish') take(packet, socket);
    else if (packet.cmd === 'pingreq') socket.write(generate({ cmd: 'pingresp' }, V5));
  };

  server.on('secureConnection', (socket) => {
    protocols.push(socket.alpnProtocol);
    sockets.add(socket);
    const client = { socket, filters: new Set<string>() };
    clients.add(client);
    const packets = parser(V5);
    packets.on('packet', (packet: Packet) => handle(client, packet));
    socket.on('data', (bytes) => packets.parse(bytes));
    socket.on('error', () => {});
    socket.on('close', () => {
      clients.delete(client);
      sockets.delete(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    ...{ published, ended, protocols },
    throttle: (count) => {
      throttled = count;
    },
  };
}

/** The limit that a packet exceeds, if any. */
function limitOf(packet: Packet): string | undefined {
  if (packet.cmd === 'subscribe' && packet.subscriptions.length > TOPIC_FILTERS_MAX) return 'topic filters';
  if (packet.cmd === 'subscribe' && packet.subscriptions.some(({ qos }) => qos > 1)) return 'QoS';
  if (packet.cmd !== 'publish') return undefined;
  if (packet.qos > 1) return 'QoS';
  if (packet.topic.split('/').length - 1 > SLASHES_MAX) return 'slashes';
  if (Buffer.byteLength(packet.topic) > TOPIC_BYTES_MAX) return 'topic';
  return packet.payload.length > PAYLOAD_BYTES_MAX ? 'payload' : undefined;
}
