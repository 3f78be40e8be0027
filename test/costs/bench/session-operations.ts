import { DISCONNECT_CODE } from '@apus/aws';
import { publish, subscribe } from '../../support/text-client.ts';
import {
  type BenchOperation,
  connected,
  connectedWith,
  connectPacket,
  DISCONNECT,
  nextClientId,
  PAYLOAD,
  persistentPacket,
  ticketOf,
} from './operation.ts';
import { WIDE_SUBSCRIBERS } from './shapes.ts';
import type { BenchClient, World } from './world.ts';

/** The operation delivers nothing to a subscriber. */
const NO_DELIVERY = 0;
const EXCHANGE = { in: 1, out: 1 };

/** CONNECT in the handshake, as the transport sends it: it takes no frame (text-frames.md, section 15). */
export const CONNECT_CLEAN: BenchOperation = {
  name: 'CONNECT, clean',
  deliveries: NO_DELIVERY,
  floor: { in: 0, out: 0 },
  prepare: async (world) => async () => {
    await world.openWith(connectPacket());
  },
};

/** Includes `$connect`, as the handshake invokes a function too. */
export const CONNECT_FRAME: BenchOperation = {
  name: 'CONNECT in a frame, clean',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  prepare: async (world) => async () => {
    await connected(world);
  },
};

export const CONNECT_PERSISTENT: BenchOperation = {
  name: 'CONNECT, persistent, for the first time',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  prepare: async (world) => async () => {
    const client = await world.open();
    await client.exchange(persistentPacket(nextClientId(), false));
  },
};

export const CONNECT_AGAIN: BenchOperation = {
  name: 'CONNECT, persistent, session continues',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  async prepare(world, topic) {
    const clientId = nextClientId();
    const before = await world.open();
    await before.exchange(persistentPacket(clientId, true));
    await before.exchange(subscribe(topic, { qos: 1 }));
    await before.exchange(DISCONNECT);
    before.close();
    return async () => {
      const client = await world.open();
      await client.exchange(persistentPacket(clientId, false));
    };
  },
};

export const SUBSCRIBE_NARROW: BenchOperation = {
  name: 'SUBSCRIBE, narrow filter',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  async prepare(world, topic) {
    const client = await connected(world);
    return async () => {
      await client.exchange(subscribe(topic, { qos: 1 }));
    };
  },
};

export const SUBSCRIBE_WIDE: BenchOperation = {
  name: `SUBSCRIBE, filter with ${WIDE_SUBSCRIBERS} subscribers`,
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  async prepare(world, topic) {
    for (let index = 0; index < WIDE_SUBSCRIBERS; index += 1) {
      const other = await connected(world);
      await other.exchange(subscribe(topic, { qos: 1 }));
    }
    const client = await connected(world);
    return async () => {
      await client.exchange(subscribe(topic, { qos: 1 }));
    };
  },
};

const RETAINED = 50;

export const SUBSCRIBE_RETAINED: BenchOperation = {
  name: `SUBSCRIBE, ${RETAINED} retained messages`,
  deliveries: RETAINED,
  floor: EXCHANGE,
  async prepare(world, topic) {
    const publisher = await connected(world);
    for (let index = 0; index < RETAINED; index += 1) {
      const name = `${topic}/${String(index).padStart(3, '0')}`;
      await publisher.exchange(publish(name, PAYLOAD, { qos: 1, retain: true }));
    }
    const client = await connected(world);
    return async () => {
      let reply = await client.exchange(subscribe(`${topic}/+`, { qos: 0 }));
      let received = reply.packets.filter(({ cmd }) => cmd === 'publish').length;
      while (reply.more) {
        reply = await client.exchange();
        received += reply.packets.filter(({ cmd }) => cmd === 'publish').length;
      }
      if (received !== RETAINED) throw new Error(`expected ${RETAINED} retained messages, ${received} came`);
    };
  },
};

export const PING: BenchOperation = {
  name: 'PINGREQ',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  async prepare(world) {
    const client = await connected(world);
    return async () => {
      await client.exchange({ cmd: 'pingreq' });
    };
  },
};

/** The operation invokes no function, so none is measured. */
const WITHOUT_FUNCTION = { isTimed: true } as const;

export const SIGN_OF_LIFE: BenchOperation = {
  name: 'Sign of life',
  deliveries: NO_DELIVERY,
  floor: { in: 1, out: 0 },
  ...WITHOUT_FUNCTION,
  async prepare(world) {
    const client = await connected(world);
    return async () => client.live();
  },
};

const SIGNS = 3;

/** The frames of an idle client in 36 minutes, of which each counts as one (text-frames.md, section 16). */
export const PROOF_OF_LIFE: BenchOperation = {
  name: `${SIGNS} signs of life and a PINGREQ, each`,
  deliveries: SIGNS + 1,
  floor: { in: SIGNS + 1, out: 1 },
  ...WITHOUT_FUNCTION,
  async prepare(world) {
    const client = await connected(world);
    return async () => {
      for (let sign = 0; sign < SIGNS; sign += 1) client.live();
      await client.exchange({ cmd: 'pingreq' });
    };
  },
};

const METHOD = 'CUSTOM-JWT';

/** A token as `apus token` makes it, with a filter or two. */
const TOKEN = Buffer.from('t'.repeat(300));

/** As the transport of this repository does it ahead of the token's end (text-frames.md, section 11). */
export const RENEWAL: BenchOperation = {
  name: 'AUTH with a new token, one filter',
  deliveries: NO_DELIVERY,
  floor: EXCHANGE,
  async prepare(world, topic) {
    const shown = { authenticationMethod: METHOD, authenticationData: TOKEN };
    const client = await connected(world, { properties: shown });
    await client.exchange(subscribe(topic, { qos: 1 }));
    return async () => {
      const { packets } = await client.exchange({ cmd: 'auth', reasonCode: 0x19, properties: shown });
      if (packets[0]?.cmd !== 'auth') throw new Error(`expected AUTH, ${packets[0]?.cmd} came`);
    };
  },
};

/** A client that has subscribed, and the ticket of its connection. */
async function movable(
  world: World,
  topic: string,
  filters: number,
  isPersistent: boolean,
): Promise<{ readonly client: BenchClient; readonly ticket: string }> {
  const clientId = nextClientId();
  const packet = isPersistent ? persistentPacket(clientId, true) : connectPacket({ clientId });
  const { client, ticket } = await connectedWith(world, packet);
  const topics = Array.from({ length: filters }, (_, index) => `${topic}-${String(index).padStart(3, '0')}`);
  const [one] = subscribe(topic, { qos: 1 }).subscriptions as readonly object[];
  await client.exchange({
    ...subscribe(topic),
    subscriptions: topics.map((each) => ({ ...one, topic: each })),
  });
  return { client, ticket };
}

/** Includes `$connect` of the new connection and `$disconnect` of the old one. */
function moveOf(name: string, filters: number, isPersistent: boolean): BenchOperation {
  return {
    name,
    deliveries: NO_DELIVERY,
    floor: EXCHANGE,
    async prepare(world, topic) {
      const { ticket } = await movable(world, topic, filters, isPersistent);
      return async () => {
        const next = await world.open();
        ticketOf(await next.move(ticket));
      };
    },
  };
}

/** A session that ends with its connection waits a minute for its client. */
const ENDS_AFTER_MS = 61_000;

/** Includes the loss, and the timer that finds after a minute that the client is back. */
function resumeOf(name: string, filters: number, isPersistent: boolean): BenchOperation {
  return {
    name,
    deliveries: NO_DELIVERY,
    floor: EXCHANGE,
    isTimed: true,
    async prepare(world, topic) {
      const { client, ticket } = await movable(world, topic, filters, isPersistent);
      return async () => {
        await client.vanish();
        await world.quiet();
        const next = await world.open();
        ticketOf(await next.resume(ticket));
        await world.quiet();
        await world.pass(ENDS_AFTER_MS);
      };
    },
  };
}

/** The message is published while its only recipient is offline, whose session ends with its connection. */
export const KEPT_WHILE_AWAY: BenchOperation = {
  name: 'QoS 1 to a client that has lost its connection, kept for it',
  deliveries: 1,
  floor: { in: 1, out: 1 },
  async prepare(world, topic) {
    const { client } = await movable(world, topic, 1, false);
    const publisher = await connected(world);
    await client.vanish();
    await world.quiet();
    const message = publish(`${topic}-000`, PAYLOAD, { qos: 1 });
    return async () => {
      await publisher.exchange(message);
    };
  },
};

export const RESUMES: readonly BenchOperation[] = [
  resumeOf('Resume, clean, one filter, with the loss', 1, false),
  resumeOf('Resume, clean, 10 filters, with the loss', 10, false),
  resumeOf('Resume, persistent, one filter, with the loss', 1, true),
];

export const MOVES: readonly BenchOperation[] = [
  moveOf('Move, clean, one filter', 1, false),
  moveOf('Move, clean, 10 filters', 10, false),
  moveOf('Move, clean, 100 filters', 100, false),
  moveOf('Move, persistent, one filter', 1, true),
];

/** The close code brings DISCONNECT, as with the transport: it takes no frame (text-frames.md, section 14). */
export const DISCONNECT_CLEAN: BenchOperation = {
  name: 'DISCONNECT, clean, one filter',
  deliveries: NO_DELIVERY,
  floor: { in: 0, out: 0 },
  async prepare(world, topic) {
    const client = await connected(world);
    await client.exchange(subscribe(topic, { qos: 1 }));
    return async () => client.close(DISCONNECT_CODE);
  },
};

/** Includes `$disconnect`, as every end of a connection does. */
export const DISCONNECT_FRAME: BenchOperation = {
  name: 'DISCONNECT in a frame, clean, one filter',
  deliveries: NO_DELIVERY,
  floor: { in: 1, out: 0 },
  async prepare(world, topic) {
    const client = await connected(world);
    await client.exchange(subscribe(topic, { qos: 1 }));
    return async () => {
      await client.exchange(DISCONNECT);
      client.close();
    };
  },
};

/** The close code brings DISCONNECT, too. Includes the timer of the session's end. */
export const DISCONNECT_PERSISTENT: BenchOperation = {
  name: 'DISCONNECT, persistent, one filter',
  deliveries: NO_DELIVERY,
  floor: { in: 0, out: 0 },
  async prepare(world, topic) {
    const client = await world.open();
    await client.exchange(persistentPacket(nextClientId(), true));
    await client.exchange(subscribe(topic, { qos: 1 }));
    return async () => client.close(DISCONNECT_CODE);
  },
};

/** A client with a will has to send DISCONNECT like this. */
export const DISCONNECT_PERSISTENT_FRAME: BenchOperation = {
  name: 'DISCONNECT in a frame, persistent, one filter',
  deliveries: NO_DELIVERY,
  floor: { in: 1, out: 0 },
  async prepare(world, topic) {
    const client = await world.open();
    await client.exchange(persistentPacket(nextClientId(), true));
    await client.exchange(subscribe(topic, { qos: 1 }));
    return async () => {
      await client.exchange(DISCONNECT);
      client.close();
    };
  },
};

/** The client does not come back within that minute. */
function lossOf(name: string, isPersistent: boolean): BenchOperation {
  return {
    name,
    deliveries: NO_DELIVERY,
    floor: { in: 0, out: 0 },
    isTimed: true,
    async prepare(world, topic) {
      // Sessions that were lost earlier end now.
      await world.pass(ENDS_AFTER_MS);
      const { client } = await movable(world, topic, 1, isPersistent);
      return async () => {
        await client.vanish();
        await world.quiet();
        await world.pass(ENDS_AFTER_MS);
      };
    },
  };
}

export const LOSSES: readonly BenchOperation[] = [
  lossOf('Connection lost, clean, one filter', false),
  lossOf('Connection lost, persistent, one filter', true),
];

/** The grace period of a lost connection: the function may still be committing a DISCONNECT. */
const WILL_AFTER_MS = 6_000;

export const WILL: BenchOperation = {
  name: 'Connection lost, its will QoS 1 to 1',
  deliveries: 1,
  floor: { in: 0, out: 1 },
  isTimed: true,
  async prepare(world, topic) {
    const watcher = await connected(world);
    await watcher.exchange(subscribe(topic, { qos: 1 }));
    const mortal = await world.open();
    const will = { topic, payload: PAYLOAD, qos: 1, retain: false };
    await mortal.exchange(connectPacket({ will }));
    return async () => {
      await mortal.vanish();
      await world.quiet();
      await world.pass(WILL_AFTER_MS);
      await watcher.nextPush();
      await world.pass(ENDS_AFTER_MS);
    };
  },
};
