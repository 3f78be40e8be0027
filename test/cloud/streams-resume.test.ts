import { connect as connectInTextFrames } from '@apus/client';
import * as mqtt from 'mqtt';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { cuttable, seeded } from '../support/cuttable.ts';
import { StreamLedger } from '../support/stream-ledger.ts';
import { ResumingProgram, SubscribingProgram } from '../support/stream-program.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 120_000 });

const PATIENT = { timeout: 60_000, interval: 250 };
const STREAMS = [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 }];
const MESSAGES = 150;

let world: CloudWorld;

afterEach(async () => {
  await world.stop();
  expect(world.failures).toEqual([]);
});

/** The transport waits as shortly as it may. */
function open(url: string, options: mqtt.IClientOptions = {}): mqtt.MqttClient {
  return connectInTextFrames(mqtt, url, { protocolVersion: 5, ...options }, { random: () => 0 });
}

describe('programs of mqtt.js that are cut at random, while several publish side by side and posts change places', () => {
  it.each([
    ['named by the head of their filter', 8, 1],
    ['named by the head of their filter', 8, 2],
    ['served by workers', 1, 3],
  ])(
    'receive every message: in order and once with resume(), and at least once without (readers %s, at most %d there; seed %d)',
    async (_, inlineSubscribersMax, seed) => {
      const next = seeded(seed);
      world = await startCloud({
        seed,
        streams: STREAMS,
        inlineSubscribersMax,
        faults: { postOvertaken: 0.3 },
      });
      const way = await cuttable(world.url);
      const resuming = [
        new ResumingProgram(open(way.url), 'chat/room'),
        new ResumingProgram(open(way.url), '$stream/chat'),
      ];
      const bare = new SubscribingProgram(open(way.url, { resubscribe: false }), 'chat/room');
      const programs = [...resuming, bare];
      const ledger = new StreamLedger();
      const publishers = await Promise.all([0, 1, 2].map(() => open(world.url)));
      onTestFinished(async () => {
        for (const each of publishers) await each.endAsync(true);
      });
      const beside = publishers.map(async (publisher, index) => {
        for (let number = 1; number <= MESSAGES; number += 1) {
          const payload = `${index}-${number}`;
          await publisher.publishAsync('chat/room', payload, { qos: 1 });
          ledger.acknowledged.push(payload);
          if (index > 0 || next() >= 0.05) continue;
          const before = programs.map(({ recovered }) => recovered.length);
          way.cut();
          const isBack = () =>
            programs.every(({ recovered }, each) => recovered.length > (before[each] ?? 0));
          if (next() < 0.7) await expect.poll(isBack, PATIENT).toBe(true);
        }
      });
      await Promise.all(beside);
      for (const { noticed } of resuming)
        await expect.poll(() => ledger.violations(noticed), PATIENT).toEqual([]);
      const missing = () => ledger.acknowledged.filter((each) => !bare.payloads.has(each));
      await expect.poll(missing, PATIENT).toEqual([]);
      for (const { noticed } of programs) expect(noticed).not.toContain('gap');
      // Otherwise nothing has been put in order here.
      expect(ledger.violations(bare.noticed)).not.toEqual([]);
    },
  );
});
