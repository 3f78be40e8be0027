import type { IClientOptions, MqttClient } from 'mqtt';
import { unique } from '../unique.ts';
import type { ConnectMqtt } from './program.ts';

/** Clients of the attacking tenant, each of which does everything as fast as the broker allows. */
const FLOODERS = 6;
/** Publishes of a flooder in flight. */
const UNDER_WAY = 20;
/** The time between two attempts to connect, beyond the connection quota of its tenant. */
const CONNECT_EVERY_MS = 50;
const CONNECTING_MAX = 10;
const PAYLOAD = 'x'.repeat(1_024);

export interface Flood {
  /** Messages that were acknowledged or refused. */
  readonly published: () => number;
  /** CONNECTs that were refused, or got no answer. */
  readonly refused: () => number;
  stop(): Promise<void>;
}

/**
 * One tenant attacks: it publishes without a pause to its own wildcard subscriptions and to the queues of sessions
 * whose clients are away, retains messages, and connects again and again.
 */
export async function flood(connectMqtt: ConnectMqtt, tenant: string): Promise<Flood> {
  let isOver = false;
  let published = 0;
  let refused = 0;
  const clients = new Set<MqttClient>();
  const open = (options: IClientOptions): MqttClient => {
    const given = { protocolVersion: 5 as const, reconnectPeriod: 0, username: `${tenant}/a`, password: '-' };
    const client = connectMqtt({ ...given, ...options });
    clients.add(client);
    client.on('error', () => {});
    client.once('close', () => clients.delete(client));
    return client;
  };
  await leaveQueue(open);
  const work = Array.from({ length: FLOODERS }, async (_, index) => {
    while (!isOver) {
      const client = open({ clientId: unique(`flooder-${index}`) });
      if (!(await isConnected(client))) {
        refused += 1;
        await pause(CONNECT_EVERY_MS);
        continue;
      }
      client.subscribe(['#', 'news/+', '+/#'], { qos: 1 });
      await Promise.all(
        Array.from({ length: UNDER_WAY }, async (__, lane) => {
          while (!isOver && client.connected) {
            const topic = lane === 0 ? `state/${published % 100}` : 'news/queue';
            await within(client.publishAsync(topic, PAYLOAD, { qos: 1, retain: lane === 0 }));
            published += 1;
          }
        }),
      );
      client.end(true);
    }
  });
  const connects = setInterval(() => {
    if (clients.size > FLOODERS + CONNECTING_MAX) return;
    const client = open({ clientId: unique('caller') });
    void isConnected(client).then((isIn) => {
      if (!isIn) refused += 1;
      setTimeout(() => client.end(true), 10 * CONNECT_EVERY_MS);
    });
  }, CONNECT_EVERY_MS);
  return {
    published: () => published,
    refused: () => refused,
    async stop() {
      isOver = true;
      clearInterval(connects);
      for (const client of clients) client.end(true);
      await Promise.all(work);
      for (const client of clients) client.end(true);
    },
  };
}

/** A session whose client is away, for which every message of the flood waits. */
async function leaveQueue(open: (options: IClientOptions) => MqttClient): Promise<void> {
  const client = open({
    ...{ clientId: unique('away'), clean: false, properties: { sessionExpiryInterval: 3_600 } },
  });
  await isConnected(client);
  await within(client.subscribeAsync('news/queue', { qos: 1 }));
  await within(client.endAsync());
}

function isConnected(client: MqttClient): Promise<boolean> {
  return new Promise((resolve) => {
    client.once('connect', () => resolve(true));
    client.once('error', () => resolve(false));
    client.once('close', () => resolve(false));
  });
}

const ANSWER_MS = 2_000;

/** Any outcome is fine: an answer, a refusal, or none. */
async function within(promise: Promise<unknown>): Promise<void> {
  await Promise.race([promise.catch(() => pause(1)), pause(ANSWER_MS)]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
