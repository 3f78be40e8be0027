import { afterAll, beforeAll, expect, it } from 'vitest';
import { Program } from '../cloud/program.ts';
import { type InProcessWorld, startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { VirtualTime } from '../faults/virtual-time.ts';

/*
 * A room of many watchers in a deployment, in virtual time: `APUS_ROOM_WATCHERS=10000 npm run test:room`. Prints what members
 * that join one behind another cost, and when the last watcher has been told of the last one.
 */

const WATCHERS = Number(process.env.APUS_ROOM_WATCHERS ?? 1_000);
const MEMBERS = 20;
/** Clients that connect together. */
const BATCH = 100;
const TOLD_WITHIN_SECONDS = 120;
const TIMEOUT_MS = 3_600_000;

let time: VirtualTime;
let world: InProcessWorld;
const watchers: Program[] = [];

beforeAll(async () => {
  time = new VirtualTime(1);
  world = await time.during(startCloudInProcess({ seed: 1, presence: true, connectionSeconds: () => 7_200 }));
}, TIMEOUT_MS);

afterAll(async () => {
  for (const { mqtt } of watchers) mqtt.end(true);
  await time.advance(1_000);
  world.stop();
  time.restore();
});

it(
  `tells ${WATCHERS} watchers of ${MEMBERS} members that join`,
  async () => {
    const { emulator } = world;
    for (let first = 0; first < WATCHERS; first += BATCH) {
      const batch = Array.from(
        { length: BATCH },
        (_, index) => new Program(emulator, `watcher-${first + index}`),
      );
      for (const { mqtt } of batch) mqtt.on('connect', () => mqtt.subscribe('$presence/hall/+', { qos: 1 }));
      watchers.push(...batch);
      await time.advance(first === 0 ? 10_000 : 500);
    }
    await time.advance(60_000);
    const members = Array.from({ length: MEMBERS }, (_, index) => new Program(emulator, `member-${index}`));
    watchers.push(...members);
    await time.advance(2_000);
    const before = emulator.counters.snapshot();
    const beganMs = time.nowMs;
    const cpu = process.cpuUsage();
    for (const [index, { mqtt }] of members.entries()) {
      mqtt.publish(`$presence/hall/member-${index}`, 'here', { qos: 1 });
      await time.advance(100);
    }
    const audience = watchers.slice(0, WATCHERS);
    const isTold = () => audience.every(({ received }) => new Set(received).size === MEMBERS);
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
    for (const { received } of audience) expect(new Set(received).size).toBe(MEMBERS);
    expect(audience.reduce((sum, { received }) => sum + received.length, 0)).toBe(WATCHERS * MEMBERS);
    expect(world.failures).toEqual([]);
  },
  TIMEOUT_MS,
);
