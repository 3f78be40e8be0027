import { rmSync } from 'node:fs';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import type { RemotePorts } from './object/remote.ts';
import { needsWorkerd, newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';

const KILLS = 4;
/** Messages that publishers are answered between two kills, at least. */
const ANSWERS = 150;
const PATIENCE = { timeout: 20_000, interval: 10 };
const NO_PORTS: RemotePorts = {
  ...{ door: '', authenticator: false, authorizer: 'none', methods: [], logLevel: undefined },
};
const STREAM = { name: 'log', topicFilter: 'log/#', messagesMax: 100_000 };
/** On each a message follows when the one before is answered. */
const LANES = (['log', 'plain'] as const).flatMap((kind) =>
  ([1, 2] as const).flatMap((qos) =>
    ['a', 'b', 'c'].map((name) => ({ qos, topic: `${kind}/${qos}/${name}` })),
  ),
);

/** A `workerd` that is killed and started again on the same storage, and clients of stock mqtt.js that come back. */
async function hubThatIsKilled() {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let workerd: Workerd = await startWorkerd(1, folder);
  onTestFinished(() => workerd.kill());
  const url = (scheme: string, path: string) => `${scheme}://127.0.0.1:${workerd.port}/hub/${path}`;
  const given = { options: { quietMs: 2, streams: [STREAM], queueLengthMax: 100_000 }, remote: NO_PORTS };
  await fetch(url('http', 'options'), { method: 'POST', body: JSON.stringify(given) });
  const sockets = new Set<WebSocket>();
  return {
    /** Clients read none of its last answers: they repeat what it has taken. */
    async kill(): Promise<void> {
      for (const socket of sockets) socket.pause();
      await (await fetch(url('http', 'api/v5/stats'))).text();
      for (const socket of sockets) socket.terminate();
      await workerd.kill();
      workerd = await startWorkerd(1, folder);
    },
    async connect(clientId: string, options: IClientOptions = {}): Promise<MqttClient> {
      const client = await mqtt.connectAsync(url('ws', 'mqtt'), {
        ...{ clientId, protocolVersion: 5, clean: false, properties: { sessionExpiryInterval: 3_600 } },
        reconnectPeriod: 20,
        createWebsocket: (_, protocols) => {
          const socket = new WebSocket(url('ws', 'mqtt'), protocols);
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
          return socket;
        },
        ...options,
      });
      client.on('error', () => {});
      onTestFinished(() => void client.end(true));
      return client;
    },
  };
}

/** What a client is given, by topic and in order. */
function received(client: MqttClient): ReadonlyMap<string, string[]> {
  const found = new Map(LANES.map(({ topic }) => [topic, [] as string[]]));
  client.on('message', (topic, payload) => void found.get(topic)?.push(payload.toString()));
  return found;
}

/** What is missing, doubled or out of order. */
function wrongIn(found: ReadonlyMap<string, string[]>, counts: ReadonlyMap<string, number>): string[] {
  return LANES.flatMap(({ topic, qos }) => {
    const got = found.get(topic) ?? [];
    const due = Array.from({ length: counts.get(topic) ?? 0 }, (_, index) => String(index + 1));
    const once = qos === 2 ? got : [...new Set(got)];
    return once.join() === due.join()
      ? []
      : [`${topic}: ${due.length} were answered, and came: ${got.join()}`];
  });
}

it(
  'loses nothing that it has answered to stock mqtt.js, in streams and beside them, when it is killed, and has QoS 2 once [MQTT-4.3.3-10] [MQTT-4.6.0-5]',
  needsWorkerd,
  async () => {
    const { connect, kill } = await hubThatIsKilled();
    const subscriber = await connect('subscriber');
    const live = received(subscriber);
    await subscriber.subscribeAsync(['log/#', 'plain/#'], { qos: 2 });
    const publisher = await connect('publisher');
    const counts = new Map<string, number>();
    let [answers, isOver] = [0, false];
    const publishing = LANES.map(async ({ topic, qos }) => {
      while (!isOver) {
        const number = (counts.get(topic) ?? 0) + 1;
        await publisher.publishAsync(topic, String(number), { qos });
        counts.set(topic, number);
        answers += 1;
      }
    });
    for (let kills = 0; kills < KILLS; kills += 1) {
      const before = answers;
      await expect.poll(() => answers - before, PATIENCE).toBeGreaterThan(ANSWERS);
      await kill();
    }
    isOver = true;
    await Promise.all(publishing);
    await expect.poll(() => wrongIn(live, counts), PATIENCE).toEqual([]);
    const reader = await connect('reader', { clean: true });
    const history = received(reader);
    const properties = { userProperties: { 'stream-offset': 'earliest' } };
    await reader.subscribeAsync('log/#', { qos: 1, properties });
    const ofStream = new Map([...counts].filter(([topic]) => topic.startsWith('log/')));
    await expect.poll(() => wrongIn(history, ofStream), PATIENCE).toEqual([]);
  },
);
