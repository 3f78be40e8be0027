import type { BenchClient, ObjectWorld } from './object-world.ts';

/** An operation of clients at the object door. */
export interface ObjectOperation {
  /** First column of the table. */
  readonly name: string;
  /** Messages that reach a subscriber. 0: the dollars are those of a million such operations. */
  readonly deliveries: number;
  /** Prepares everything, and returns the operation to measure. */
  prepare(world: ObjectWorld): Promise<() => Promise<void>>;
}

/** MQTT payload of every message here, in bytes: the default of `apus cost`. */
const PAYLOAD = 'p'.repeat(200);

const TOPIC = 'bench/topic-0001';

/** Between the last packet of a client and the next one. */
const PAUSE_MS = 2_000;
const FEW = 10;
const MANY = 1_000;

type Qos = 0 | 1 | 2;

function publishOf(topic: string, qos: Qos, fields: Readonly<Record<string, unknown>> = {}) {
  return { cmd: 'publish', topic, qos, payload: PAYLOAD, messageId: 7, retain: false, dup: false, ...fields };
}

/** PUBLISH until it is acknowledged. */
async function publish(client: BenchClient, topic: string, qos: Qos, fields = {}): Promise<void> {
  client.send(publishOf(topic, qos, fields));
  if (qos === 1) await client.next('puback');
  if (qos < 2) return;
  await client.next('pubrec');
  client.send({ cmd: 'pubrel', messageId: 7 });
  await client.next('pubcomp');
}

/** Receives a message, and acknowledges it. */
async function receive(client: BenchClient): Promise<void> {
  const { qos, messageId } = await client.next('publish');
  if (qos === 1) client.send({ cmd: 'puback', messageId });
  if (qos !== 2) return;
  client.send({ cmd: 'pubrec', messageId });
  await client.next('pubrel');
  client.send({ cmd: 'pubcomp', messageId });
}

const operation = (name: string, prepare: ObjectOperation['prepare'], deliveries = 0): ObjectOperation => ({
  name,
  deliveries,
  prepare,
});

/** That many clients with one filter. */
async function subscribers(world: ObjectWorld, count: number, isKept = false): Promise<BenchClient[]> {
  const found: BenchClient[] = [];
  for (let left = count; left > 0; left -= 1) {
    const client = await (isKept ? world.connectKept() : world.connect());
    await client.subscribe(TOPIC, 2);
    found.push(client);
  }
  return found;
}

function publishTo(count: number, qos: Qos, isKept = false): ObjectOperation {
  const to = isKept ? `${count.toLocaleString('en')}, kept` : count.toLocaleString('en');
  return operation(
    `PUBLISH QoS ${qos} to ${to}`,
    async (world) => {
      const receivers = await subscribers(world, count, isKept);
      const publisher = await world.connect();
      return async () => {
        await publish(publisher, TOPIC, qos);
        for (const receiver of receivers) await receive(receiver);
      };
    },
    count,
  );
}

const CONNECTS = [
  operation('CONNECT', async (world) => async () => {
    await world.connect();
  }),
  operation('CONNECT, kept, for the first time', async (world) => async () => {
    await world.connectKept();
  }),
  operation('CONNECT, kept, session continues', async (world) => {
    const [client] = (await subscribers(world, 1, true)) as [BenchClient];
    await client.disconnect();
    return async () => {
      await world.connectKept(client.clientId);
    };
  }),
  operation('SUBSCRIBE', async (world) => {
    const client = await world.connect();
    return () => client.subscribe(TOPIC, 1);
  }),
  operation('SUBSCRIBE, kept', async (world) => {
    const client = await world.connectKept();
    return () => client.subscribe(TOPIC, 1);
  }),
  // Another client stays: the last one of a hub leaves its usage in a row.
  operation('DISCONNECT', async (world) => {
    await world.connect();
    const [client] = (await subscribers(world, 1)) as [BenchClient];
    return () => client.disconnect();
  }),
  operation('DISCONNECT, kept', async (world) => {
    await world.connect();
    const [client] = (await subscribers(world, 1, true)) as [BenchClient];
    return () => client.disconnect();
  }),
];

const PUBLISHES = [
  ...[1, FEW, MANY].flatMap((count) => ([0, 1, 2] as const).map((qos) => publishTo(count, qos))),
  ...[1, FEW].flatMap((count) => ([1, 2] as const).map((qos) => publishTo(count, qos, true))),
  operation(
    'PUBLISH QoS 1 to 1, kept, away',
    async (world) => {
      const [receiver] = (await subscribers(world, 1, true)) as [BenchClient];
      await receiver.disconnect();
      const publisher = await world.connect();
      return () => publish(publisher, TOPIC, 1);
    },
    1,
  ),
  operation('PUBLISH QoS 1, retained, no subscriber', async (world) => {
    const publisher = await world.connect();
    return () => publish(publisher, TOPIC, 1, { retain: true });
  }),
];

const STREAMED = [
  operation(
    'PUBLISH QoS 1 to 1, topic of a stream',
    async (world) => {
      const reader = await world.connect();
      await reader.subscribe('stream/a', 1);
      const publisher = await world.connect();
      await publish(publisher, 'stream/a', 1);
      await receive(reader);
      return async () => {
        await publish(publisher, 'stream/a', 1);
        await receive(reader);
      };
    },
    1,
  ),
  operation(
    'SUBSCRIBE to a stream, 10 messages of the past',
    async (world) => {
      const publisher = await world.connect();
      for (let left = FEW; left > 0; left -= 1) await publish(publisher, 'stream/a', 1);
      const reader = await world.connect();
      return async () => {
        await reader.subscribe('stream/a', 0, { rewind: String(FEW) });
        for (let left = FEW; left > 0; left -= 1) await receive(reader);
      };
    },
    FEW,
  ),
];

const ROOM = '$presence/room-7';

/** A room with one watcher. */
async function watched(world: ObjectWorld) {
  const watcher = await world.connect();
  await watcher.subscribe(`${ROOM}/+`, 0);
  return { watcher, member: await world.connect() };
}

const ROOMS = [
  operation('a member enters a room', async (world) => {
    const { watcher, member } = await watched(world);
    return async () => {
      await publish(member, `${ROOM}/ann`, 1);
      await world.rest();
      await receive(watcher);
    };
  }),
  operation('a member leaves a room', async (world) => {
    const { watcher, member } = await watched(world);
    await publish(member, `${ROOM}/ann`, 1);
    await world.rest();
    await receive(watcher);
    return async () => {
      await publish(member, `${ROOM}/ann`, 1, { payload: '' });
      await world.rest();
      await receive(watcher);
    };
  }),
];

const HOUR_MS = 3_600_000;

/** A client that is alone at its hub for three minutes. */
const VISIT = operation('a visit of three minutes to a hub without others', async (world) => {
  await world.pass(HOUR_MS);
  return async () => {
    const client = await world.connect();
    await client.subscribe(TOPIC, 1);
    for (let minutes = 1; minutes < 3; minutes += 1) {
      await world.pass(60_000);
      await client.ping();
    }
    await world.pass(60_000);
    await client.disconnect();
    await world.rest();
    await world.pass(HOUR_MS);
  };
});

/** Each sends a PINGREQ a minute. */
function idleHour(count: number): ObjectOperation {
  return operation(
    `an hour of ${count === 1 ? 'an idle client' : `${count} idle clients`}`,
    async (world) => {
      const clients = await subscribers(world, count);
      const pauseMs = 60_000 / count;
      return async () => {
        for (let passedMs = 0; passedMs < HOUR_MS; ) {
          for (const client of clients) {
            await world.pass(pauseMs);
            await client.ping();
            passedMs += pauseMs;
          }
        }
      };
    },
  );
}

/** The object has slept, and a packet wakes it. */
function wake(
  sessions: number,
  packet: string,
  send: (client: BenchClient) => Promise<void>,
): ObjectOperation {
  const name = `${packet} to a sleeping hub with ${sessions.toLocaleString('en')} kept sessions`;
  return operation(name, async (world) => {
    for (const client of await subscribers(world, sessions, true)) await client.disconnect();
    const client = await world.connect();
    await world.hibernate();
    await world.pass(PAUSE_MS);
    return () => send(client);
  });
}

const RESTING = [
  operation('PINGREQ', async (world) => {
    const client = await world.connect();
    return () => client.ping();
  }),
  VISIT,
  idleHour(1),
  idleHour(20),
  operation('an hour without clients', async (world) => {
    const [client] = (await subscribers(world, 1, true)) as [BenchClient];
    await client.disconnect();
    // The alarm for its Keep Alive finds nobody.
    await world.pass(HOUR_MS / 10);
    return () => world.pass(HOUR_MS / 2);
  }),
  wake(MANY, 'PINGREQ', (client) => client.ping()),
  wake(FEW, 'PUBLISH QoS 1', (client) => publish(client, 'bench/nobody', 1)),
  wake(MANY, 'PUBLISH QoS 1', (client) => publish(client, 'bench/nobody', 1)),
];

export const OPERATIONS: readonly ObjectOperation[] = [
  ...CONNECTS,
  ...PUBLISHES,
  ...STREAMED,
  ...ROOMS,
  ...RESTING,
];
