import { generate, type Packet, parser } from 'mqtt-packet';
import { WebSocket } from 'ws';

const PROTOCOL = { protocolVersion: 5 } as const;

/** The retained messages under `kept/`, by publisher, as a new client is sent them. */
export function readRetained(url: string): Promise<ReadonlyMap<string, number>> {
  return new Promise((resolve, reject) => {
    const values = new Map<string, number>();
    const socket = new WebSocket(url, ['mqtt']);
    const packets = parser(PROTOCOL);
    const send = (packet: Packet) => socket.send(generate(packet, PROTOCOL));
    packets.on('packet', (packet: Packet) => {
      if (packet.cmd === 'connack') {
        send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'kept/#', qos: 0 }] });
        // Answered behind everything that the subscription brings.
        send({ cmd: 'pingreq' });
      } else if (packet.cmd === 'publish' && packet.retain) {
        values.set(packet.topic.slice('kept/'.length), Number(packet.payload));
      } else if (packet.cmd === 'pingresp') {
        socket.close();
        resolve(values);
      }
    });
    socket.on('open', () =>
      send({
        cmd: 'connect',
        protocolId: 'MQTT',
        protocolVersion: 5,
        clean: true,
        clientId: '',
        keepalive: 0,
      }),
    );
    socket.on('message', (data) => void packets.parse(data as Buffer));
    socket.on('error', reject);
  });
}
