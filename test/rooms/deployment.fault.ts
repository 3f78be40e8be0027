import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CloudWorldOptions } from '../cloud/options.ts';
import { Program } from '../cloud/program.ts';
import { type InProcessWorld, startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { connectPacket } from '../costs/bench/operation.ts';
import { decodePackets, encodePackets } from '../costs/bench/packets.ts';
import { protocolsWith } from '../costs/bench/world.ts';
import { VirtualTime } from '../faults/virtual-time.ts';
import { readServerFrame } from '../support/server-frame.ts';
import { subscribe } from '../support/text-client.ts';

/*
 * A room with many watchers in a deployment, in virtual time: `APUS_ROOM_WATCHERS=10000 npm run test:room`. Prints the
 * cost of members that join one after another, and when the last watcher has received the last of them.
 */

const WATCHERS = Number(process.env.APUS_ROOM_WATCHERS ?? 1_000);
const MEMBERS = 20;
/** Clients that connect at a time. */
const BATCH = 100;
const TOLD_WITHIN_SECONDS = 120;
const TIMEOUT_MS = 3_600_000;

/** The account's quota allows as many connections as there are clients. */
const OPTIONS: CloudWorldOptions = {
  seed: 1,
  presence: true,
  connectionSeconds: () => 7_200,
  gatewayLimits: { connectionsMax: WATCHERS + MEMBERS },
};

const SUBSCRIBE = encodePackets([subscribe('$presence/hall/+', { qos: 1 })]).toString('base64');

let time: VirtualTime;
let world: InProcessWorld;
const watchers: Watcher[] = [];
const members: Program[] = [];

/** A client that sends nothing by itself, except CONNECT in its handshake. */
class Watcher {
  /** Topics of members, in the order of their messages. */
  readonly told: string[] = [];
  readonly #socket: InstanceType<InProcessWorld['emulator']['WebSocket']>;

  constructor({ emulator }: InProcessWorld, clientId: string) {
    this.#socket = new emulator.WebSocket(emulator.url, protocolsWith(connectPacket({ clientId })));
    this.#socket.addEventListener('open', () => this.#socket.send(SUBSCRIBE));
    this.#socket.addEventListener('message', ({ data }) => {
      const frame = readServerFrame(String(data));
      if (!('bytes' in frame)) return;
      for (const { cmd, topic } of decodePackets(frame.bytes))
        if (cmd === 'publish') this.told.push(String(topic));
    });
  }

  end(): void {
    this.#socket.terminate();
  }
}

beforeAll(async () => {
  time = new VirtualTime(1);
  world = await time.during(startCloudInProcess(OPTIONS));
}, TIMEOUT_MS);

afterAll(async () => {
  for (const { mqtt } of members) mqtt.end(true);
  for (const watcher of watchers) watcher.end();
  await time.advance(1_000);
  world.stop();
  time.restore();
}, TIMEOUT_MS);

it(
  `tells ${WATCHERS} watchers of ${MEMBERS} members that join`,
  async () => {
    const { emulator } = world;
    for (let first = 0; first < WATCHERS; first += BATCH) {
      for (let index = 0; index < BATCH; index += 1)
        watchers.push(new Watcher(world, `watcher-${first + index}`));
      await time.advance(first === 0 ? 10_000 : 500);
    }
    await time.advance(60_000);
    for (let index = 0; index < MEMBERS; index += 1) members.push(new Program(emulator, `member-${index}`));
    await time.advance(2_000);
    const before = emulator.counters.snapshot();
    const beganMs = time.nowMs;
    const cpu = process.cpuUsage();
    for (const [index, { mqtt }] of members.entries()) {
      mqtt.publish(`$presence/hall/member-${index}`, 'here', { qos: 1 });
      await time.advance(100);
    }
    const isTold = () => watchers.every(({ told }) => new Set(told).size === MEMBERS);
    while (!isTold() && time.nowMs - beganMs < TOLD_WITHIN_SECONDS * 1_000) await time.advance(100);
    const toldSeconds = (time.nowMs - beganMs) / 1_000;
    await time.advance(60_000);
    const { user, system } = process.cpuUsage(cpu);
    const after = emulator.counters.snapshot();
    const counted = (read: (of: typeof after) => number) => read(after) - read(before);
    const report = {
      watchers: WATCHERS,
      members: MEMBERS,
      'all are told after, s': toldSeconds,
      'messages in': counted(({ messages }) => messages.in.billed),
      'messages out': counted(({ messages }) => messages.replies.billed + messages.posts.billed),
      'CPU of all, s': Math.round((user + system) / 1e6),
      ...Object.fromEntries(
        Object.entries(after.invocations).map(([name, { count }]) => [
          `invocations of ${name}`,
          count - (before.invocations[name]?.count ?? 0),
        ]),
      ),
    };
    process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
    for (const { told } of watchers) expect(new Set(told).size).toBe(MEMBERS);
    expect(watchers.reduce((sum, { told }) => sum + told.length, 0)).toBe(WATCHERS * MEMBERS);
    expect(world.failures).toEqual([]);
  },
  TIMEOUT_MS,
);
