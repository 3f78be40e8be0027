import { setInterval as every } from 'node:timers';
import type { Packet, PublishPacket } from '@apus/mqtt';
import { RawClient, type Target } from './raw-client.ts';

/** An attack of a stranger with a valid password, which runs until it is stopped. */
export interface Attack {
  readonly name: string;
  /** Starts the attack at one door. */
  start(target: Target, victims: readonly string[]): () => void;
}

/**
 * Each attack sends at this rate: enough to exceed every quota of a deployment, and less than one processor can send.
 */
const TICK_MS = 20;
const MALLORY = 'mallory';

/** Connections of the attacks that hold many. */
const CONNECTIONS = 50;

/** Keeps one connection open, and attacks over it at each tick. */
function busy(connect: Fields, act: (client: RawClient, count: number) => void) {
  return (target: Target, victims: readonly string[]) => {
    let client = open(target, connect, victims, 0);
    let count = 0;
    const timer = every(() => {
      count += 1;
      if (client.isClosed) client = open(target, connect, victims, count);
      else if (client.isConnected && client.bufferedBytes < 1_000_000) act(client, count);
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      client.end();
    };
  };
}

/** Opens a connection at each tick, and leaves its end to the broker. */
function storm(connect: Fields, act: (client: RawClient) => void = () => {}) {
  return (target: Target, victims: readonly string[]) => {
    const clients: RawClient[] = [];
    let count = 0;
    const timer = every(() => {
      count += 1;
      const client = open(target, connect, victims, count);
      act(client);
      clients.push(client);
      if (clients.length > CONNECTIONS) clients.shift()?.end();
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      for (const client of clients) client.end();
    };
  };
}

interface Fields {
  clientId?(count: number, victims: readonly string[]): string;
  readonly username?: string;
  readonly password?: string;
  readonly payloadOfWill?: number;
  /** Sends no CONNECT. */
  readonly isSilent?: boolean;
  readonly isDeaf?: boolean;
}

function open(target: Target, fields: Fields, victims: readonly string[], count: number): RawClient {
  const { clientId = (id) => `${MALLORY}-${id}`, username = MALLORY, password = MALLORY } = fields;
  const will = {
    topic: `${MALLORY}/will`,
    payload: Buffer.alloc(fields.payloadOfWill ?? 0),
    qos: 0,
    retain: true,
  };
  const connect = {
    type: 'connect',
    protocolVersion: 5,
    cleanStart: true,
    keepAliveSeconds: 60,
    clientId: clientId(count, victims),
    username,
    password: Buffer.from(password),
    properties: { sessionExpiryInterval: 600 },
    ...(fields.payloadOfWill !== undefined && { will: { ...will, properties: {} } }),
  } as unknown as Packet;
  const client = new RawClient(target, fields.isSilent ? undefined : connect);
  if (fields.isDeaf) client.pause();
  return client;
}

function publish(topic: string, bytes: number, more: Partial<PublishPacket> = {}): PublishPacket {
  return {
    type: 'publish',
    topic,
    payload: Buffer.alloc(bytes, 'x'),
    qos: 0,
    retain: false,
    dup: false,
    packetId: 0,
    properties: {},
    ...more,
  };
}

function subscribe(packetId: number, filters: readonly string[]): Packet {
  const subscriptions = filters.map((topicFilter) => ({
    topicFilter,
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    retainHandling: 0,
  }));
  return { type: 'subscribe', packetId, subscriptions, properties: {} } as unknown as Packet;
}

const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i));
const packetId = (count: number) => (count % 65_535) + 1;

export const ATTACKS: readonly Attack[] = [
  {
    name: 'floods its own topic',
    start: busy({}, (client) => {
      for (let left = 20; left > 0; left -= 1) client.send(publish(`${MALLORY}/flood`, 100));
    }),
  },
  {
    name: 'floods itself, and reads nothing',
    start: busy({ isDeaf: true }, (client, count) => {
      if (count % 50 === 1) client.send(subscribe(packetId(count), [`${MALLORY}/echo`]));
      for (let left = 10; left > 0; left -= 1) client.send(publish(`${MALLORY}/echo`, 2_000));
    }),
  },
  {
    name: 'publishes where it may not',
    start: busy({}, (client, count) => {
      const topic = `honest/${'t'.repeat(900)}/${count}`;
      for (let left = 10; left > 0; left -= 1)
        client.send(publish(topic, 10, { qos: 1, packetId: packetId(count * 10 + left) }));
    }),
  },
  {
    name: 'subscribes where it may not',
    start: busy({}, (client, count) =>
      client.send(subscribe(packetId(count), ['#', 'honest/#', `honest/${count}/+`])),
    ),
  },
  {
    name: 'subscribes to deep filters, ever new ones',
    start: busy({}, (client, count) =>
      client.send(
        subscribe(
          packetId(count),
          many(50, (index) => `${MALLORY}/${count}/${index}${'/a'.repeat(190)}`),
        ),
      ),
    ),
  },
  {
    name: 'retains large messages under ever new topics',
    start: busy({}, (client, count) =>
      client.send(publish(`${MALLORY}/kept/${count}`, 60_000, { retain: true })),
    ),
  },
  {
    name: 'connects with the identifiers of others',
    start: storm({ clientId: (count, victims) => victims[count % victims.length] ?? '' }),
  },
  { name: 'opens session after session', start: storm({}) },
  { name: 'opens sockets, and says nothing', start: storm({ isSilent: true }) },
  { name: 'brings a will of 60 KB each time', start: storm({ payloadOfWill: 60_000 }) },
  {
    name: 'guesses the password of another',
    start: storm({ username: 'ada', password: 'wrong', clientId: () => 'ada-guessed' }),
  },
  {
    name: 'sends what is no MQTT',
    start: storm({}, (client) => client.sendBytes(Buffer.alloc(2_000, 0xff))),
  },
  {
    name: 'begins messages, and never ends them',
    start: storm({}, (client) => client.begin(400_000)),
  },
];
