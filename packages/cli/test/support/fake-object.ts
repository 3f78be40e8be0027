import type { AddressInfo } from 'node:net';
import { encodePacket, type Packet, PacketDecoder } from '@apus/mqtt';
import { onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

export interface ObjectFaults {
  /** After this many PUBACKs of all clients it cuts the socket that has sent the last one. */
  readonly pubacksMax?: number;
  /** Retained messages are acknowledged so much later. */
  readonly writeMs?: number;
  /** Every SUBSCRIBE is refused. */
  readonly refusesSubscriptions?: boolean;
}

/** The part of a hub that the probe uses, with faults. `cut` ends all sockets without a close frame. */
export async function startFakeObject(faults: ObjectFaults = {}): Promise<{ url: string; cut: () => void }> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    handleProtocols: (offered) => offered.has('mqtt') && 'mqtt',
  });
  const subscribers = new Map<WebSocket, string>();
  let pubacks = 0;

  const answer = (socket: WebSocket, packet: Packet): void => {
    const say = (said: Packet) => socket.send(encodePacket(said, 5));
    switch (packet.type) {
      case 'connect':
        say({ type: 'connack', sessionPresent: false, reasonCode: 0, properties: {} });
        break;
      case 'pingreq':
        say({ type: 'pingresp' });
        break;
      case 'subscribe': {
        subscribers.set(socket, packet.subscriptions[0]?.topicFilter ?? '');
        const reasonCodes = [faults.refusesSubscriptions ? 0x87 : 1];
        say({ type: 'suback', packetId: packet.packetId, reasonCodes, properties: {} });
        break;
      }
      case 'publish': {
        for (const [subscriber, filter] of subscribers)
          if (filter === packet.topic) subscriber.send(encodePacket(packet, 5));
        const { packetId } = packet;
        const acknowledge = () => say({ type: 'puback', packetId, reasonCode: 0, properties: {} });
        if (packet.retain && faults.writeMs !== undefined) setTimeout(acknowledge, faults.writeMs);
        else acknowledge();
        break;
      }
      case 'puback':
        pubacks += 1;
        if (pubacks > (faults.pubacksMax ?? Number.POSITIVE_INFINITY)) socket.terminate();
    }
  };

  server.on('connection', (socket) => {
    const decoder = new PacketDecoder({ maximumPacketSize: 65_536 });
    socket.on('message', (data: Buffer) => {
      for (const packet of decoder.push(data)) if ('type' in packet) answer(socket, packet);
    });
    socket.on('close', () => subscribers.delete(socket));
  });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const cut = () => {
    for (const socket of server.clients) socket.terminate();
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/mqtt`, cut };
}
