import { rmSync } from 'node:fs';
import { encodePacket, PacketDecoder, Violation } from '@apus/mqtt';
import { Random } from '@apus/simulation';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { sized } from '../../../test/support/runs.ts';
import { Cast } from '../../store-disk/test/histories/cast.ts';
import type { HistoryClient } from '../../store-disk/test/histories/client.ts';
import type { RemotePorts } from './object/remote.ts';
import { needsWorkerd, newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';

const KILLS = 3;
const EVICTIONS = sized(10, 25);
/** The others leave the sockets as they are. */
const CUTS_SHARE = 1 / 3;
/** Packets that clients receive between two faults, about. */
const PACKETS = 300;
const AGAIN_MS = 20;
const NO_PORTS: RemotePorts = {
  ...{ door: '', authenticator: false, authorizer: 'none', methods: [], logLevel: undefined },
};
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

  async ask(what: string, request: RequestInit = {}): Promise<void> {
    await fetch(`http://127.0.0.1:${this.workerd?.port}/hub/${what}`, request);
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

/** Packets under way, and the ledger of them, over a `workerd` that keeps its storage. */
async function underTraffic() {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const network = new Network();
  const begin = async () => {
    network.workerd = await startWorkerd(1, folder);
  };
  onTestFinished(() => network.workerd?.kill());
  onTestFinished(() => network.end());
  await begin();
  const options = { options: { quietMs: 2 }, remote: NO_PORTS };
  await network.ask('options', { method: 'POST', body: JSON.stringify(options) });
  const cast = new Cast(true);
  const clients = cast.clients.filter((client) => !cast.mortals.includes(client));
  for (const client of clients) network.connect(client);
  await expect.poll(() => network.subscribed).toBe(SUBSCRIBERS);
  const publishing = setInterval(() => {
    if (cast.lag < LAG_MAX) for (const { run } of cast.publishing()) run();
    for (const client of clients) network.send(client);
  }, 1);
  onTestFinished(() => clearInterval(publishing));
  return {
    network,
    begin,
    /** Waits until clients have received so many packets more. */
    async pass(packets: number): Promise<void> {
      const before = network.received;
      await expect.poll(() => network.received - before, { interval: 1 }).toBeGreaterThan(packets);
    },
    async check(): Promise<void> {
      clearInterval(publishing);
      await expect.poll(() => cast.checkMessages(), { timeout: 30_000 }).toEqual([]);
      expect(network.problems).toEqual([]);
    },
  };
}

it(
  'delivers everything, QoS 2 once and in order, to kept sessions and others, when it is killed [MQTT-4.3.3-10] [MQTT-4.3.3-13] [MQTT-4.6.0-5]',
  needsWorkerd,
  async () => {
    const { network, begin, pass, check } = await underTraffic();
    for (let round = 1; round <= KILLS; round += 1) {
      await pass(PACKETS);
      await network.workerd?.kill();
      await begin();
    }
    await check();
  },
);

it(
  'delivers everything, QoS 2 once and in order, when its object loses its memory, or its sockets too, at random [MQTT-4.3.3-10] [MQTT-4.6.0-5]',
  needsWorkerd,
  async () => {
    const { network, pass, check } = await underTraffic();
    const random = new Random(Number(process.env.APUS_FAULT_SEED ?? 1));
    for (let round = 1; round <= EVICTIONS; round += 1) {
      await pass(Math.floor(random.next() * PACKETS));
      await network.ask(random.next() < CUTS_SHARE ? 'evict/close' : 'evict/hibernate');
    }
    await check();
  },
);
