import { afterEach, beforeEach, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { sized } from '../support/runs.ts';
import { StreamLedger } from '../support/stream-ledger.ts';
import { ResumingProgram, SubscribingProgram } from '../support/stream-program.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 300_000;

/** A day in CI, and six hours elsewhere. */
const DAY_SECONDS = sized(21_600, 86_400);

/** Seconds between two messages: around each end of a connection there are some. */
const PERIOD_SECONDS = 60;

/** The fewest moves of a connection of two hours meanwhile: each comes before 96 % of them have passed. */
const MOVES = DAY_SECONDS / 7_200;

let time: VirtualTime;
let world: InProcessWorld;

beforeEach(async () => {
  time = new VirtualTime(11);
  const streams = [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 }];
  world = await time.during(startCloudInProcess({ seed: 11, streams }));
});
afterEach(async () => {
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

it(
  'programs that read a stream for a day subscribe once, and receive every message',
  async () => {
    const kept = { clean: false, properties: { sessionExpiryInterval: 3_600 } };
    const transports = [
      new Program(world.emulator, 'helped'),
      new Program(world.emulator, 'helped-kept', kept),
      new Program(world.emulator, 'bare', { resubscribe: false }),
    ] as const;
    const [helped, helpedKept, bare] = transports;
    const resuming = [
      new ResumingProgram(helped.mqtt, 'chat/room'),
      new ResumingProgram(helpedKept.mqtt, '$stream/chat'),
    ];
    const subscribing = new SubscribingProgram(bare.mqtt, 'chat/room');
    const publisher = new Program(world.emulator, 'publisher');
    await time.advance(5_000);
    const ledger = new StreamLedger();
    for (let second = 0; second < DAY_SECONDS; second += PERIOD_SECONDS) {
      const payload = String(second);
      publisher.mqtt.publish('chat/room', payload, { qos: 1 }, (error) => {
        if (!error) ledger.acknowledged.push(payload);
      });
      await time.advance(PERIOD_SECONDS * 1_000);
    }
    expect(ledger.acknowledged).toHaveLength(DAY_SECONDS / PERIOD_SECONDS);
    for (const { noticed } of resuming) expect(ledger.violations(noticed)).toEqual([]);
    const missing = ledger.acknowledged.filter((payload) => !subscribing.payloads.has(payload));
    expect(missing).toEqual([]);
    for (const { noticed, recovered } of [...resuming, subscribing]) {
      expect(noticed).not.toContain('gap');
      expect(recovered).toEqual(['true']);
    }
    // The transport moves their connections beneath them.
    for (const each of transports) {
      expect(each.told('moved')).toBeGreaterThanOrEqual(MOVES);
      expect(each.noticed).toEqual(['connect']);
    }
    for (const { mqtt } of [...transports, publisher]) mqtt.end(true);
  },
  TIMEOUT_MS,
);
