import { publish, subscribe } from '../../support/text-client.ts';
import { type BenchOperation, connected, DISCONNECT } from './operation.ts';
import type { BenchClient, World } from './world.ts';

/** The data of a member, in bytes of payload. */
const DATA = 'd'.repeat(60);

/** Watchers of a large room: the broker tells more watchers in ticks. */
const WATCHERS = 120;

/** A tick of a room with this many watchers, and the queue of the timers. */
const TICK_MS = 3_000;

/** The grace period of a lost member, and the queue of the timers. */
const GRACE_MS = 7_000;

let rooms = 0;

/** Names of one length, so that items have the same size in any order of a run. */
function nextRoom(): string {
  rooms += 1;
  return `room-${String(rooms).padStart(4, '0')}`;
}

const memberOf = (room: string, member = 'member-0'): string => `$presence/${room}/${member}`;

async function watched(world: World, room: string): Promise<BenchClient> {
  const watcher = await connected(world);
  await watcher.exchange(subscribe(`$presence/${room}/+`, { qos: 0 }));
  return watcher;
}

async function enter(client: BenchClient, topic: string, data = DATA): Promise<void> {
  const { packets } = await client.exchange(publish(topic, data, { qos: 1 }));
  const [answer] = packets;
  if (answer?.cmd !== 'puback' || Number(answer.reasonCode ?? 0) >= 0x80)
    throw new Error(`expected a member to be taken in, ${JSON.stringify(answer)} came`);
}

export const JOIN: BenchOperation = {
  name: 'PUBLISH QoS 1, a member joins, told to 1',
  deliveries: 1,
  floor: { in: 1, out: 2 },
  async prepare(world) {
    const room = nextRoom();
    const watcher = await watched(world, room);
    const member = await connected(world);
    return async () => {
      await enter(member, memberOf(room));
      await watcher.nextPush();
    };
  },
};

export const CHANGE: BenchOperation = {
  name: 'PUBLISH QoS 1, a member changes, told to 1',
  deliveries: 1,
  floor: { in: 1, out: 2 },
  async prepare(world) {
    const room = nextRoom();
    const watcher = await watched(world, room);
    const member = await connected(world);
    await enter(member, memberOf(room), 'first');
    await watcher.nextPush();
    return async () => {
      await enter(member, memberOf(room));
      await watcher.nextPush();
    };
  },
};

export const LEAVE: BenchOperation = {
  name: 'DISCONNECT, a member leaves, told to 1',
  deliveries: 1,
  floor: { in: 1, out: 2 },
  async prepare(world) {
    const room = nextRoom();
    const watcher = await watched(world, room);
    const member = await connected(world);
    await enter(member, memberOf(room));
    await watcher.nextPush();
    return async () => {
      await member.exchange(DISCONNECT);
      await watcher.nextPush();
      member.close();
      await world.quiet();
    };
  },
};

export const LOST_MEMBER: BenchOperation = {
  name: 'a member is lost and leaves after the grace, told to 1',
  deliveries: 1,
  floor: { in: 0, out: 1 },
  isTimed: true,
  async prepare(world) {
    const room = nextRoom();
    const watcher = await watched(world, room);
    const member = await connected(world);
    await enter(member, memberOf(room));
    await watcher.nextPush();
    return async () => {
      await member.vanish();
      await world.quiet();
      await world.pass(GRACE_MS);
      await watcher.nextPush();
    };
  },
};

/** A new watcher, to whom the broker sends the members of the room. */
export const LIST: BenchOperation = {
  name: 'SUBSCRIBE to a room of 50 members',
  deliveries: 50,
  floor: { in: 1, out: 1 },
  async prepare(world) {
    const room = nextRoom();
    for (let index = 0; index < 50; index += 1)
      await enter(await connected(world), memberOf(room, `member-${index}`));
    const newcomer = await connected(world);
    return async () => {
      let reply = await newcomer.exchange(subscribe(`$presence/${room}/+`, { qos: 0 }));
      let received = reply.packets.filter(({ cmd }) => cmd === 'publish').length;
      while (reply.more) {
        reply = await newcomer.exchange();
        received += reply.packets.filter(({ cmd }) => cmd === 'publish').length;
      }
      if (received !== 50) throw new Error(`expected 50 members, ${received} came`);
    };
  },
};

/** Ten members join a room whose watchers are told in ticks. */
export const TICK: BenchOperation = {
  name: `10 members join a room of ${WATCHERS} watchers, with its tick`,
  deliveries: 10 * WATCHERS,
  floor: { in: 10, out: 10 + WATCHERS },
  isTimed: true,
  async prepare(world) {
    const room = nextRoom();
    const watchers: BenchClient[] = [];
    for (let index = 0; index < WATCHERS; index += 1) watchers.push(await watched(world, room));
    const members: BenchClient[] = [];
    for (let index = 0; index < 10; index += 1) members.push(await connected(world));
    return async () => {
      for (const [index, member] of members.entries()) await enter(member, memberOf(room, `member-${index}`));
      await world.pass(TICK_MS);
      for (const watcher of watchers) await watcher.nextPush();
    };
  },
};
