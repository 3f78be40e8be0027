import type { IClientOptions } from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cuttable, seeded, type Way } from '../support/cuttable.ts';
import { connectMqttJs } from '../support/mqttjs.ts';
import { StreamLedger } from '../support/stream-ledger.ts';
import { ResumingProgram } from '../support/stream-program.ts';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';

const OPTIONS = {
  streams: [
    { name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 },
    { name: 'few', topicFilter: 'few/+', messagesMax: 3 },
    { name: 'prices', topicFilter: 'prices/+', snapshot: true, key: 'symbol' },
  ],
};

const PATIENT = { timeout: 60_000 };

/** It comes back when the test lets it. */
const READER: IClientOptions = { protocolVersion: 5, reconnectPeriod: 1_000_000 };

describe(withOptions('A program of mqtt.js with resume()'), NEEDS_OWN_DOOR, () => {
  const door = useDoor(OPTIONS);

  function reading(
    url: string,
    topicFilter: string,
    userProperties?: Record<string, string>,
    options: IClientOptions = {},
  ): ResumingProgram {
    // The transport waits as shortly as it may.
    const client = connectMqttJs(url, { ...READER, ...options }, { random: () => 0 });
    return new ResumingProgram(client, topicFilter, userProperties);
  }

  async function publisher() {
    const client = connectMqttJs(door.url, { protocolVersion: 5 });
    onTestFinished(() => void client.end(true));
    await new Promise((resolve) => client.once('connect', resolve));
    return client;
  }

  const payloadsOf = ({ messages }: ResumingProgram) => messages.map(({ payload }) => payload);

  /** It has read and been cut, and is back when `whileAway` has been done. */
  async function cutAround(program: ResumingProgram, way: Way, whileAway: () => Promise<void>) {
    const { length } = program.recovered;
    program.comesBack = false;
    way.break();
    await whileAway();
    way.mend();
    program.comesBack = true;
    // The transport lets mqtt.js notice the cut when the server has told that the session cannot be resumed.
    if (!program.client.connected) program.client.reconnect();
    await expect.poll(() => program.recovered.length, PATIENT).toBeGreaterThan(length);
  }

  test.each([1, 2])(
    'that is cut at random receives every message, once and in order (seed %d)',
    { timeout: 120_000 },
    async (seed) => {
      const next = seeded(seed);
      const root = unique('chat/r');
      const way = await cuttable(door.url);
      const kept = { clean: false, clientId: unique('c'), properties: { sessionExpiryInterval: 60 } };
      const programs = [
        reading(way.url, `${root}/0`),
        reading(way.url, `${root}/#`),
        reading(way.url, `$stream/chat/${root}/+`, undefined, kept),
      ];
      const ledgers = [new StreamLedger(), new StreamLedger()] as const;
      const publishers = await Promise.all([publisher(), publisher()]);
      const send = async (index: number, number: number) => {
        const room = next() < 0.6 ? 0 : 1 + Math.floor(next() * 3);
        const payload = `${index}-${number} ${'x'.repeat(Math.floor(next() * 500))}`;
        await publishers[index]?.publishAsync(`${root}/${room}`, payload, { qos: 1 });
        ledgers[1].acknowledged.push(payload);
        if (room === 0) ledgers[0].acknowledged.push(payload);
      };
      const all = [0, 1].map(async (index) => {
        for (let number = 1; number <= 120; number += 1) {
          await send(index, number);
          const isAwaited = index === 0 && number % 30 === 0;
          if (!isAwaited && next() >= 0.03) continue;
          const before = programs.map(({ recovered }) => recovered.length);
          way.cut();
          const isBack = () =>
            programs.every(({ recovered }, each) => recovered.length > (before[each] ?? 0));
          if (isAwaited) await expect.poll(isBack, PATIENT).toBe(true);
        }
      });
      await Promise.all(all);
      for (const [index, program] of programs.entries()) {
        const ledger = index === 0 ? ledgers[0] : ledgers[1];
        await expect
          .poll(() => ledger.violations(program.noticed), { ...PATIENT, interval: 250 })
          .toEqual([]);
        expect(program.noticed).not.toContain('gap');
        expect(program.recovered.length).toBeGreaterThanOrEqual(4);
      }
    },
  );

  test('begins once at the requested position, and goes on from its last message after a reconnect', async () => {
    const topic = unique('chat/r');
    const client = await publisher();
    for (const payload of ['1', '2', '3']) await client.publishAsync(topic, payload, { qos: 1 });
    const way = await cuttable(door.url);
    const program = reading(way.url, topic, { rewind: '2' });
    await expect.poll(() => payloadsOf(program)).toEqual(['2', '3']);
    await cutAround(program, way, async () => {
      for (const payload of ['4', '5', '6']) await client.publishAsync(topic, payload, { qos: 1 });
    });
    await expect.poll(() => payloadsOf(program)).toEqual(['2', '3', '4', '5', '6']);
    expect(program.noticed).not.toContain('gap');
  });

  test('that has not received a message yet misses none that come while it is away', async () => {
    const topic = unique('chat/r');
    const client = await publisher();
    await client.publishAsync(topic, 'before', { qos: 1 });
    const way = await cuttable(door.url);
    const program = reading(way.url, topic, { 'stream-offset': 'latest' });
    const everywhere = reading(way.url, `${topic}/#`, { 'stream-offset': 'latest' });
    for (const { recovered } of [program, everywhere]) await expect.poll(() => recovered).toEqual(['true']);
    await cutAround(everywhere, way, async () => {
      await client.publishAsync(topic, '1', { qos: 1 });
      await client.publishAsync(`${topic}/new`, '2', { qos: 1 });
    });
    await expect.poll(() => payloadsOf(program)).toEqual(['1']);
    await expect.poll(() => payloadsOf(everywhere).sort()).toEqual(['1', '2']);
  });

  test('is told of a gap once, before the first message behind it', async () => {
    const topic = unique('few/t');
    const client = await publisher();
    const way = await cuttable(door.url);
    const program = reading(way.url, topic);
    await client.publishAsync(topic, '1', { qos: 1 });
    await expect.poll(() => payloadsOf(program)).toEqual(['1']);
    await cutAround(program, way, async () => {
      for (const payload of ['2', '3', '4', '5', '6']) await client.publishAsync(topic, payload, { qos: 1 });
    });
    await client.publishAsync(topic, '7', { qos: 1 });
    await expect.poll(() => payloadsOf(program)).toEqual(['1', '6', '7']);
    expect(program.noticed.indexOf('gap')).toBe(1);
    expect(program.noticed.filter((each) => each === 'gap')).toHaveLength(1);
  });

  test('is not sent a snapshot again after a reconnect, but the messages since', async () => {
    const topic = unique('prices/p');
    const client = await publisher();
    const publish = (symbol: string, payload: string) =>
      client.publishAsync(topic, payload, { qos: 1, properties: { userProperties: { symbol } } });
    await publish('A', 'a1');
    await publish('A', 'a2');
    await publish('B', 'b1');
    const way = await cuttable(door.url);
    const program = reading(way.url, `$stream/prices/${topic}`, {});
    await expect.poll(() => payloadsOf(program)).toEqual(['a2', 'b1']);
    await cutAround(program, way, async () => {
      await publish('A', 'a3');
      await publish('A', 'a4');
    });
    await expect.poll(() => payloadsOf(program)).toEqual(['a2', 'b1', 'a3', 'a4']);
  });

  test('subscribes anew where it has unsubscribed, and leaves other subscriptions alone', async () => {
    const [topic, plain] = [unique('chat/r'), unique('plain')];
    const client = await publisher();
    const program = reading(door.url, topic);
    await expect.poll(() => program.recovered).toEqual(['true']);
    await program.client.subscribeAsync(plain, { qos: 1 });
    await client.publishAsync(topic, '1', { qos: 1 });
    await client.publishAsync(plain, 'p', { qos: 1 });
    await expect.poll(() => payloadsOf(program).sort()).toEqual(['1', 'p']);
    await program.client.unsubscribeAsync(topic);
    await client.publishAsync(topic, '2', { qos: 1 });
    const properties = { userProperties: { 'stream-offset': 'latest' } };
    await program.client.subscribeAsync(topic, { qos: 0, properties });
    await client.publishAsync(topic, '3', { qos: 1 });
    await expect.poll(() => payloadsOf(program)).toEqual(expect.arrayContaining(['3']));
    expect(payloadsOf(program)).not.toContain('2');
    expect(program.noticed).not.toContain('gap');
  });

  test('is told by its own callback that a stream is not there', async () => {
    const program = reading(door.url, unique('chat/r'));
    await expect(program.client.subscribeAsync('$stream/unknown', { qos: 0 })).rejects.toThrow(
      /Subscribe error/,
    );
    expect(program.noticed).toEqual([]);
  });
});
