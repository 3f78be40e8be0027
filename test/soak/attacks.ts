import { connect } from 'node:net';
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

/** Sockets that an attack holds which sends nothing over them. */
const HELD_MAX = 1_000;

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

/** Opens something at each tick, and holds as much of it as may be. */
function holding(begin: (target: Target, count: number) => () => void) {
  return (target: Target) => {
    const ends: (() => void)[] = [];
    let count = 0;
    const timer = every(() => {
      count += 1;
      ends.push(begin(target, count));
      if (ends.length > HELD_MAX) ends.shift()?.();
    }, TICK_MS);
    return () => {
      clearInterval(timer);
      for (const end of ends) end();
    };
  };
}

/** Begins a handshake that ends within a header. */
function handshake({ url }: Target, headers: string): () => void {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname, () =>
    socket.write(`GET /mqtt HTTP/1.1\r\nHost: a\r\n${headers}`),
  );
  socket.on('error', () => {});
  return () => socket.destroy();
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

function subscribe(packetId: number, filters: readonly string[], properties = {}): Packet {
  const subscriptions = filters.map((topicFilter) => ({
    topicFilter,
    qos: 1,
    noLocal: false,
    retainAsPublished: false,
    retainHandling: 0,
  }));
  return { type: 'subscribe', packetId, subscriptions, properties } as unknown as Packet;
}

const many = (count: number, make: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i));
const packetId = (count: number) => (count % 65_535) + 1;

/** Before CONNECT, at the door whose frames have a clock: as late as the broker may believe. */
const AHEAD_MS = 59_000;
const ahead = () => `@${(Date.now() + AHEAD_MS).toString(36).padStart(9, '0')}0000,`;

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
    name: 'names long topics that it may not publish to by aliases',
    start: storm({}, (client) => {
      for (let topicAlias = 1; topicAlias <= 32; topicAlias += 1)
        client.send(publish(`honest/${topicAlias}/${'t'.repeat(15_000)}`, 1, { properties: { topicAlias } }));
    }),
  },
  {
    name: 'asks for the newest of each hour, on ever new topics',
    start: busy({}, (client, count) => {
      const properties = { userProperties: [['conflate-ms', '3600000']] };
      if (count % 50 === 1) client.send(subscribe(packetId(count), [`${MALLORY}/newest/#`], properties));
      client.send(publish(`${MALLORY}/newest/${count}`, 20_000));
    }),
  },
  {
    name: 'retains small messages, and searches them for what is not there',
    start: busy({}, (client, count) => {
      for (let left = 20; left > 0; left -= 1)
        client.send(publish(`${MALLORY}/${count % 500}/${left}/n`, 1, { retain: true }));
      if (count % 10 === 0)
        client.send(
          subscribe(
            packetId(count),
            many(100, (index) => `${MALLORY}/+/+/none${index}`),
          ),
        );
    }),
  },
  {
    name: 'subscribes to filters that overlap, and publishes to them all',
    start: busy({}, (client, count) => {
      const bits = (index: number) =>
        index.toString(2).padStart(10, '0').replaceAll('1', '+').replaceAll('0', 'a');
      if (count <= 50)
        client.send(
          subscribe(
            packetId(count),
            many(20, (index) => `${MALLORY}/${[...bits(count * 20 + index)].join('/')}`),
          ),
        );
      client.send(publish(`${MALLORY}/${'a/'.repeat(9)}a`, 1));
    }),
  },
  {
    name: 'delays messages for 49 days',
    start: busy({}, (client, count) => {
      for (let left = 20; left > 0; left -= 1)
        client.send(publish(`$delayed/4294967/${MALLORY}/${count}`, 1_000));
    }),
  },
  {
    name: 'publishes to ever new topics of a stream',
    start: busy({}, (client, count) => {
      for (let left = 5; left > 0; left -= 1)
        client.send(publish(`${MALLORY}/stream/${count}/${left}`, 1_000));
    }),
  },
  {
    name: 'pings before CONNECT, as a stranger',
    start: storm({ isSilent: true }, (client) => client.ping(2_000)),
  },
  {
    name: 'sets its clock ahead before CONNECT, as a stranger',
    start: storm({ isSilent: true }, (client) => client.sendText(ahead())),
  },
  {
    name: 'begins handshakes, and never ends them, as a stranger',
    start: holding((target) => handshake(target, 'X-')),
  },
  {
    name: 'takes the names of rules and bridges',
    start: storm({ clientId: (count) => (count % 2 === 0 ? '$rule/north' : '$bridge/north') }),
  },
  {
    name: 'has many connections, and reads from none',
    start: holding((target, count) => {
      const client = open(target, { isDeaf: true }, [], count);
      client.send(subscribe(1, [`${MALLORY}/deaf/${count}`]));
      for (let left = 10; left > 0; left -= 1) client.send(publish(`${MALLORY}/deaf/${count}`, 100_000));
      return () => client.end();
    }),
  },
  {
    name: 'guesses passwords that a hook decides about',
    start: storm({ username: 'bob', password: 'wrong', clientId: (count) => `bob-guessed-${count}` }),
  },
  {
    name: 'names users that no hook knows',
    start: storm({ username: 'eve', password: 'eve', clientId: (count) => `unknown-${count}` }),
  },
  {
    name: 'has a hook asked about ever new topics',
    start: busy({}, (client, count) => {
      for (let left = 50; left > 0; left -= 1)
        client.send(publish(`honest/${MALLORY}/${count}/${left}`, 10, { qos: 1, packetId: packetId(count) }));
    }),
  },
  {
    name: 'asks to authenticate again, without end',
    start: busy({}, (client) =>
      client.send({ type: 'auth', reasonCode: 0x19, properties: { authenticationMethod: 'TOKEN' } }),
    ),
  },
  {
    name: 'comes from ever new addresses, as it says, as a stranger',
    start: holding((target, count) => {
      const address = `203.0.113.${count % 256}`;
      return handshake(target, `X-Forwarded-For: ${address}\r\nForwarded: for=${address}\r\nX-`);
    }),
  },
  {
    name: 'is in ever new rooms, and watches them',
    start: busy({}, (client, count) => {
      if (count === 1) client.send(subscribe(1, ['$presence/+/+']));
      for (let left = 5; left > 0; left -= 1)
        client.send(publish(`$presence/${MALLORY}-${count}/${left}`, 1_000));
    }),
  },
  {
    name: 'leaves QoS 2 messages half sent',
    start: busy({}, (client, count) => {
      for (let left = 10; left > 0; left -= 1)
        client.send(publish(`${MALLORY}/half`, 1_000, { qos: 2, packetId: packetId(count * 10 + left) }));
    }),
  },
  {
    name: 'begins messages, and never ends them',
    start: storm({}, (client) => client.begin(400_000)),
  },
];
