import { type Fields, publish, type Received, subscribe } from '../../support/text-client.ts';
import {
  type BenchOperation,
  connected,
  DISCONNECT,
  nextClientId,
  PAYLOAD,
  persistentPacket,
} from './operation.ts';
import type { BenchClient, World } from './world.ts';

type Qos = 0 | 1 | 2;

/** One message to this many subscribers, whose sessions end with their connections. */
export function publishTo(recipients: number, qos: Qos): BenchOperation {
  return {
    name: `PUBLISH QoS ${qos} to ${recipients.toLocaleString('en')}`,
    deliveries: recipients,
    floor: floorOfPublish(recipients, qos),
    isLong: recipients > 100,
    async prepare(world, topic) {
      const run = await publishing(world, topic, recipients, qos);
      if (qos === 2) await once(world, run);
      return run;
    },
  };
}

/** Exchanges of a session from one time that its record forgets to the next (docs/data-model.md, "Exactly once"). */
export const EXCHANGES_OF_A_PAGE = 24;

/** The same at QoS 2 to one subscriber, repeated until its session's record has forgotten once. */
export const PUBLISH_QOS_2_OFTEN: BenchOperation = {
  name: `PUBLISH QoS 2 to 1, ${EXCHANGES_OF_A_PAGE} one after another`,
  deliveries: EXCHANGES_OF_A_PAGE,
  floor: { in: 4 * EXCHANGES_OF_A_PAGE, out: 4 * EXCHANGES_OF_A_PAGE },
  async prepare(world, topic) {
    const run = await publishing(world, topic, 1, 2);
    const often = async (times: number) => {
      for (let time = 0; time < times; time += 1) await once(world, run);
    };
    await often(NAMES_KEPT + 1);
    return async () => await often(EXCHANGES_OF_A_PAGE);
  },
};

/** Completed exchanges at which a record forgets older ones. */
const NAMES_KEPT = 5;

async function publishing(
  world: World,
  topic: string,
  recipients: number,
  qos: Qos,
): Promise<() => Promise<void>> {
  const subscribers = await subscribed(world, topic, recipients, qos);
  const publisher = await connected(world);
  return async () => {
    await publishOne(publisher, topic, qos);
    // Waits until the reads below find the messages.
    await world.quiet();
    for (const subscriber of subscribers) await receive(subscriber, qos);
  };
}

/** At QoS 1, PUBLISH and its PUBACK. At QoS 2, both exchanges of four packets, each of which is acknowledged. */
export function floorOfPublish(recipients: number, qos: Qos): { in: number; out: number } {
  if (qos === 0) return { in: 1, out: recipients };
  if (qos === 1) return { in: 1, out: 1 + recipients };
  return { in: 2 + 2 * recipients, out: 2 + 2 * recipients };
}

/** Gives the sessions a record: the first message of a session, which writes it, would be an operation of its own. */
async function once(world: World, run: () => Promise<void>): Promise<void> {
  await run();
  await world.quiet();
}

/** A publisher's side of one message. */
export async function publishOne(
  publisher: BenchClient,
  topic: string,
  qos: Qos,
  properties?: Fields,
): Promise<void> {
  await publisher.exchange({
    ...publish(topic, PAYLOAD, { qos, messageId: 1 }),
    ...(properties && { properties }),
  });
  if (qos === 2) await publisher.exchange({ cmd: 'pubrel', messageId: 1 });
}

/** A subscriber's side: PUBREL comes in the reply to PUBREC, and the frame with PUBCOMP asks for no reply. */
async function receive(subscriber: BenchClient, qos: Qos): Promise<void> {
  const messageId = publishOf((await subscriber.nextPush()).packets).messageId;
  if (qos < 2) return;
  await subscriber.exchange({ cmd: 'pubrec', messageId });
  subscriber.tell({ cmd: 'pubcomp', messageId });
}

/** A client that publishes rarely: its frame asks for no reply (text-frames.md, section 5). */
export const PUBLISH_RARELY: BenchOperation = {
  name: 'PUBLISH QoS 0 to 1, rarely',
  deliveries: 1,
  floor: floorOfPublish(1, 0),
  async prepare(world, topic) {
    const [subscriber] = await subscribed(world, topic, 1, 0);
    const publisher = await connected(world);
    return async () => {
      publisher.tell(publish(topic, PAYLOAD, { qos: 0 }));
      await subscriber?.nextPush();
    };
  },
};

/** A recipient's two answering frames at QoS 2: PUBREC, which the server answers with PUBREL, and PUBCOMP. */
export const ANSWERS_QOS_2: BenchOperation = {
  name: 'PUBREC and PUBCOMP of a recipient',
  deliveries: 0,
  floor: { in: 2, out: 1 },
  async prepare(world, topic) {
    const [subscriber] = await subscribed(world, topic, 1, 2);
    await publishOne(await connected(world), topic, 2);
    if (subscriber === undefined) throw new Error('expected a subscriber');
    const { messageId } = publishOf((await subscriber.nextPush()).packets);
    return async () => {
      await subscriber.exchange({ cmd: 'pubrec', messageId });
      subscriber.tell({ cmd: 'pubcomp', messageId });
    };
  },
};

/** Ten messages that gathered while a reply was awaited. */
export const PUBLISH_PACKED: BenchOperation = {
  name: 'PUBLISH QoS 1 to 1, ten in a frame',
  deliveries: 10,
  floor: { in: 1, out: 2 },
  async prepare(world, topic) {
    const [subscriber] = await subscribed(world, topic, 1, 1);
    const publisher = await connected(world);
    const packets = Array.from({ length: 10 }, (_, index) =>
      publish(topic, PAYLOAD, { qos: 1, messageId: index + 1 }),
    );
    return async () => {
      await publisher.exchange(...packets);
      await subscriber?.nextPush();
    };
  },
};

export const PUBLISH_RETAINED: BenchOperation = {
  name: 'PUBLISH QoS 1, retained, no subscriber',
  deliveries: 0,
  floor: { in: 1, out: 1 },
  async prepare(world, topic) {
    const publisher = await connected(world);
    return async () => {
      await publisher.exchange(publish(topic, PAYLOAD, { qos: 1, retain: true }));
    };
  },
};

export const PUBLISH_PERSISTENT: BenchOperation = {
  name: 'PUBLISH QoS 1 to 1, persistent session online',
  deliveries: 1,
  floor: { in: 2, out: 2 },
  async prepare(world, topic) {
    const subscriber = await persistent(world, nextClientId(), topic);
    const publisher = await connected(world);
    const run = async () => {
      await publishOne(publisher, topic, 1);
      const { messageId } = publishOf((await subscriber.nextPush()).packets);
      subscriber.tell({ cmd: 'puback', messageId });
    };
    await once(world, run);
    return run;
  },
};

/** Ten messages that gathered while a reply was awaited; the subscriber's acknowledgements gather as well. */
export const PUBLISH_PERSISTENT_PACKED: BenchOperation = {
  name: 'PUBLISH QoS 1 to 1, persistent session online, ten in a frame',
  deliveries: 10,
  floor: { in: 2, out: 2 },
  async prepare(world, topic) {
    const subscriber = await persistent(world, nextClientId(), topic);
    const publisher = await connected(world);
    const packets = Array.from({ length: 10 }, (_, index) =>
      publish(topic, PAYLOAD, { qos: 1, messageId: index + 1 }),
    );
    const run = async () => {
      await publisher.exchange(...packets);
      const { packets: pushed } = await subscriber.nextPush();
      subscriber.tell(...pushed.map(({ messageId }) => ({ cmd: 'puback', messageId })));
    };
    await once(world, run);
    return run;
  },
};

/** The message is queued. Its later delivery is an operation of its own. */
export const PUBLISH_OFFLINE: BenchOperation = {
  name: 'PUBLISH QoS 1 to 1, persistent session away',
  deliveries: 1,
  floor: { in: 1, out: 1 },
  async prepare(world, topic) {
    const publisher = await connected(world);
    await away(world, nextClientId(), topic, publisher);
    return () => publishOne(publisher, topic, 1);
  },
};

const QUEUED = 50;

/** The queue comes a page at a time, in replies. The client acknowledges messages with its next frame. */
export const RETURN_TO_QUEUE: BenchOperation = {
  name: `CONNECT to a queue of ${QUEUED}`,
  deliveries: QUEUED,
  floor: { in: 2, out: 1 },
  async prepare(world, topic) {
    const clientId = nextClientId();
    const publisher = await connected(world);
    await away(world, clientId, topic, publisher);
    for (let count = 0; count < QUEUED; count += 1) await publishOne(publisher, topic, 1);
    return async () => {
      const client = await world.open();
      let reply = await client.exchange(persistentPacket(clientId, false));
      let received = 0;
      for (;;) {
        const acknowledgements = reply.packets
          .filter(({ cmd }) => cmd === 'publish')
          .map(({ messageId }) => ({ cmd: 'puback', messageId }));
        received += acknowledgements.length;
        if (!reply.more) {
          client.tell(...acknowledgements);
          break;
        }
        reply = await client.exchange(...acknowledgements);
      }
      if (received !== QUEUED) throw new Error(`expected ${QUEUED} messages of the queue, ${received} came`);
    };
  },
};

const MEMBERS = 10;

export const PUBLISH_SHARED: BenchOperation = {
  name: `PUBLISH QoS 1 to a share group of ${MEMBERS}`,
  deliveries: 1,
  floor: { in: 2, out: 2 },
  async prepare(world, topic) {
    const members = await subscribed(world, `$share/group/${topic}`, MEMBERS, 1);
    const publisher = await connected(world);
    return async () => {
      await publishOne(publisher, topic, 1);
      await Promise.any(
        members.map(async (member) => {
          const { messageId } = publishOf((await member.nextPush()).packets);
          member.tell({ cmd: 'puback', messageId });
        }),
      );
    };
  },
};

/** Clients that have subscribed, one after another. */
async function subscribed(world: World, filter: string, count: number, qos: Qos): Promise<BenchClient[]> {
  const clients: BenchClient[] = [];
  for (let index = 0; index < count; index += 1) {
    const client = await connected(world);
    await client.exchange(subscribe(filter, { qos }));
    clients.push(client);
  }
  return clients;
}

async function persistent(world: World, clientId: string, topic: string): Promise<BenchClient> {
  const client = await world.open();
  await client.exchange(persistentPacket(clientId, true));
  await client.exchange(subscribe(topic, { qos: 1 }));
  return client;
}

/** A client that received a message before it left. */
async function away(world: World, clientId: string, topic: string, publisher: BenchClient): Promise<void> {
  const client = await persistent(world, clientId, topic);
  await publishOne(publisher, topic, 1);
  const { messageId } = publishOf((await client.nextPush()).packets);
  client.tell({ cmd: 'puback', messageId });
  await world.quiet();
  await client.exchange(DISCONNECT);
  client.close();
  await world.quiet();
}

function publishOf(packets: readonly Received[]): Received {
  const packet = packets.find(({ cmd }) => cmd === 'publish');
  if (packet === undefined) throw new Error('expected a PUBLISH in the push');
  return packet;
}
