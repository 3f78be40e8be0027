import { rmSync } from 'node:fs';
import { encodePacket, PacketDecoder, Violation } from '@apus/mqtt';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { Cast } from '../../store-disk/test/histories/cast.ts';
import type { HistoryClient } from '../../store-disk/test/histories/client.ts';
import { needsWorkerd, newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';

const ROUNDS = 4;
/** Packets that clients receive between two deaths, at least. */
const PACKETS = 300;
const AGAIN_MS = 20;
/** Of the cast. */
const SUBSCRIBERS = 6;
/** A queue that is full drops messages. */
const LAG_MAX = 60;

/** A network between clients and a `workerd` that dies. A client that has lost its connection comes back. */
class Network {
  readonly problems: string[] = [];
  /** Packets that clients have received, and SUBACKs among them. */
  received = 0;
  subscribed = 0;
  workerd: Workerd | undefined;
  readonly #sockets = new Map<HistoryClient, WebSocket>();
  #isOver = false;

  connect(client: HistoryClient): void {
    if (this.#isOver) return;
    const socket = new WebSocket(`ws://127.0.0.1:${this.workerd?.port}/hub/mqtt`, 'mqtt');
    const decoder = new PacketDecoder({ maximumPacketSize: 65_536, role: 'client' });
    this.#sockets.set(client, socket);
    socket.on('open', () => {
      client.connect();
      this.send(client);
    });
    socket.on('message', (bytes: Buffer) => {
      for (const packet of decoder.push(bytes)) this.#receive(client, packet);
      this.send(client);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      client.cut();
      setTimeout(() => this.connect(client), AGAIN_MS);
    });
  }

  /** Everything that the client has to say. */
  send(client: HistoryClient): void {
    const socket = this.#sockets.get(client);
    if (socket?.readyState !== WebSocket.OPEN) return;
    for (const packet of client.outbound.splice(0)) socket.send(encodePacket(packet, 5));
  }

  end(): void {
    this.#isOver = true;
    for (const socket of this.#sockets.values()) socket.terminate();
  }

  #receive(client: HistoryClient, packet: ReturnType<PacketDecoder['push']>[number]): void {
    this.received += 1;
    try {
      if (packet instanceof Violation) throw packet;
      if (packet.type === 'suback') this.subscribed += 1;
      client.receive(packet);
    } catch (error) {
      this.problems.push(String(error));
    }
  }
}

it(
  'delivers everything, QoS 2 once and in order, to kept sessions and others, when it is killed under traffic [MQTT-4.3.3-10] [MQTT-4.3.3-13] [MQTT-4.6.0-5]',
  needsWorkerd,
  async () => {
    const folder = newFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const network = new Network();
    onTestFinished(() => network.workerd?.kill());
    onTestFinished(() => network.end());
    network.workerd = await startWorkerd(1, folder);
    const cast = new Cast(true);
    const clients = cast.clients.filter((client) => !cast.mortals.includes(client));
    for (const client of clients) network.connect(client);
    await expect.poll(() => network.subscribed).toBe(SUBSCRIBERS);
    const publishing = setInterval(() => {
      if (cast.lag < LAG_MAX) for (const { run } of cast.publishing()) run();
      for (const client of clients) network.send(client);
    }, 1);
    for (let round = 1; round <= ROUNDS; round += 1) {
      const before = network.received;
      await expect.poll(() => network.received - before, { interval: 1 }).toBeGreaterThan(PACKETS);
      await network.workerd.kill();
      network.workerd = await startWorkerd(1, folder);
    }
    clearInterval(publishing);
    await expect.poll(() => cast.checkMessages(), { timeout: 30_000 }).toEqual([]);
    expect(network.problems).toEqual([]);
  },
);
