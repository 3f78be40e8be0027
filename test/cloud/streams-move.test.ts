import { afterEach, beforeEach, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { sized } from '../support/runs.ts';
import { StreamLedger } from '../support/stream-ledger.ts';
import { ResumingProgram, SubscribingProgram } from '../support/stream-program.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 300_000;

/** Some moves of each reader. */
const DENSE_MS = sized(14_000, 25_000);

/** So often that messages are on their way while a reader moves. */
const EVERY_MS = 47;

const KEPT = { clean: false, properties: { sessionExpiryInterval: 86_400 } };

let time: VirtualTime;
let world: InProcessWorld;

beforeEach(() => {
  time = new VirtualTime(12);
});
afterEach(async () => {
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

it.each([
  ['named by the head of their filter', 8],
  ['served by workers', 0],
])(
  'messages come one after another while readers move, and each reads every one by one SUBSCRIBE (%s)',
  async (_, inlineSubscribersMax) => {
    const streams = [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 }];
    world = await time.during(
      startCloudInProcess({ seed: 12, streams, inlineSubscribersMax, connectionSeconds: () => 1 }),
    );
    const bare = { resubscribe: false };
    const transports = [
      new Program(world.emulator, 'helped'),
      new Program(world.emulator, 'helped-kept', KEPT),
      new Program(world.emulator, 'bare', bare),
      new Program(world.emulator, 'bare-kept', { ...KEPT, ...bare }),
    ] as const;
    const [helped, helpedKept, alone, aloneKept] = transports;
    const resuming = [
      new ResumingProgram(helped.mqtt, 'chat/room'),
      new ResumingProgram(helpedKept.mqtt, '$stream/chat'),
    ];
    const subscribing = [
      new SubscribingProgram(alone.mqtt, 'chat/room'),
      new SubscribingProgram(aloneKept.mqtt, 'chat/room'),
    ];
    const publisher = new Program(world.emulator, 'publisher');
    await time.advance(1_000);
    const ledger = new StreamLedger();
    for (let count = 0; count * EVERY_MS < DENSE_MS; count += 1) {
      const payload = String(count);
      publisher.mqtt.publish('chat/room', payload, { qos: 1 }, (error) => {
        if (!error) ledger.acknowledged.push(payload);
      });
      await time.advance(EVERY_MS);
    }
    await time.advance(10_000);
    expect(ledger.acknowledged.length).toBeGreaterThan(DENSE_MS / EVERY_MS / 2);
    for (const { noticed } of resuming) expect(ledger.violations(noticed)).toEqual([]);
    for (const { payloads } of subscribing)
      expect(ledger.acknowledged.filter((payload) => !payloads.has(payload))).toEqual([]);
    // By one SUBSCRIBE: no helper has had to ask for what a move lost.
    for (const { recovered } of [...resuming, ...subscribing]) expect(recovered).toEqual(['true']);
    for (const each of transports) expect(each.told('moved')).toBeGreaterThan(2);
    for (const { mqtt } of [...transports, publisher]) mqtt.end(true);
  },
  TIMEOUT_MS,
);
