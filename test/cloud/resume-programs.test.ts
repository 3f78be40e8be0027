import type { IClientOptions } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { sized } from '../support/runs.ts';
import { Program } from './program.ts';
import { VirtualStage } from './virtual-stage.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 300_000;

const stage = new VirtualStage(7);
const { programs } = stage;

function program(name: string, options: IClientOptions = {}): Program {
  const made = new Program(stage.world.emulator, name, options);
  programs.push(made);
  return made;
}

const seconds = (count: number) => stage.seconds(count);

const TOPICS = ['q0', 'q1', 'q2'] as const;
const ALL = { q0: { qos: 0 }, q1: { qos: 1 }, q2: { qos: 2 } } as const;
const KEPT = { clean: false, properties: { sessionExpiryInterval: 86_400 } } as const;

/** Connected and subscribed, without any event yet. */
async function subscribed(name: string, options: IClientOptions = {}): Promise<Program> {
  const reader = program(name, options);
  await seconds(1);
  reader.mqtt.subscribe(ALL);
  await seconds(5);
  expect(reader.noticed).toEqual(['connect']);
  reader.noticed.length = 0;
  return reader;
}

/** In CI each client loses its connection eight times, and elsewhere four times. */
const PLAY_SECONDS = sized(20, 40);
const LOSSES = PLAY_SECONDS / 5;

/** The kinds of losses, used in turn. */
const WAYS = [
  ({ connectionId }: Program) => stage.world.emulator.cutConnection(connectionId),
  // The gateway restarts, or reports that two hours are over.
  ({ connectionId }: Program) => stage.world.emulator.closeConnection(connectionId, 1012, 'Service restart'),
  ({ connectionId }: Program) => stage.world.emulator.closeConnection(connectionId, 1001, 'Going away'),
  // A phone has changed networks: the gateway goes on sending to the old one.
  ({ connectionId }: Program) => stage.world.emulator.loseConnection(connectionId, true),
] as const;

const IN_ORDER = [WAYS[1], WAYS[2]] as const;

/** Publishes 5 messages a second at each QoS, and breaks connections now and then. Returns the published messages. */
async function playFor(
  playSeconds: number,
  publisher: Program,
  victims: readonly Program[],
  ways: readonly ((victim: Program) => boolean)[],
): Promise<string[]> {
  const sent: string[] = [];
  let broken = 0;
  for (let count = 0; count < playSeconds * 5; count += 1) {
    sent.push(String(count));
    for (const [qos, topic] of TOPICS.entries())
      publisher.mqtt.publish(topic, String(count), { qos: qos as 0 | 1 | 2 });
    await stage.time.advance(200);
    if (count % 25 !== 24) continue;
    for (const victim of victims) {
      const way = ways[broken % ways.length];
      broken += 1;
      expect(way?.(victim)).toBe(true);
    }
  }
  await seconds(90);
  return sent;
}

const isInOrder = (numbers: readonly string[]): boolean =>
  numbers.every((each, index) => index === 0 || Number(each) > Number(numbers[index - 1]));

describe('a program whose connection is lost', () => {
  it(
    'sees messages only: a persistent session gets each one at QoS 1 and 2 once and in order',
    async () => {
      await stage.start();
      const readers = [
        await subscribed('kept', KEPT),
        await subscribed('kept-3', { protocolVersion: 4, clean: false }),
      ];
      const publisher = program('publisher');
      await seconds(1);
      const sent = await playFor(PLAY_SECONDS, publisher, readers, WAYS);
      for (const reader of readers) {
        expect(reader.of('q1')).toEqual(sent);
        expect(reader.of('q2')).toEqual(sent);
        expect(isInOrder(reader.of('q0'))).toBe(true);
        expect(reader.noticed).toEqual([]);
        expect(reader.told('resumed')).toBeGreaterThanOrEqual(LOSSES);
        expect(reader.told('gap')).toBe(reader.told('resumed'));
      }
    },
    TIMEOUT_MS,
  );

  it(
    'sees messages only: a session that ends with its connection is told of each gap',
    async () => {
      await stage.start();
      const readers = [await subscribed('short'), await subscribed('short-3', { protocolVersion: 4 })];
      const publisher = program('publisher');
      await seconds(1);
      const sent = await playFor(PLAY_SECONDS, publisher, readers, WAYS);
      for (const reader of readers) {
        expect(reader.of('q2')).toEqual(sent);
        for (const topic of ['q0', 'q1']) expect(isInOrder(reader.of(topic))).toBe(true);
        expect(reader.noticed).toEqual([]);
        expect(reader.told('resumed')).toBeGreaterThanOrEqual(LOSSES);
        // Half of the connections were closed in order: then nothing is missing, and no gap is reported.
        expect(reader.told('gap')).toBe(reader.told('resumed') / 2);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'misses no message at any QoS, in any session, if the gateway closes in order, as it does at two hours',
    async () => {
      await stage.start();
      const readers = [await subscribed('short'), await subscribed('kept', KEPT)];
      const publisher = program('publisher');
      await seconds(1);
      const sent = await playFor(sized(20, 30), publisher, readers, IN_ORDER);
      for (const reader of readers) expect(reader.noticed).toEqual([]);
      for (const topic of TOPICS) expect(readers[0]?.of(topic)).toEqual(sent);
      expect(readers[0]?.told('gap')).toBe(0);
      for (const topic of ['q1', 'q2']) expect(readers[1]?.of(topic)).toEqual(sent);
    },
    TIMEOUT_MS,
  );

  it(
    'loses no publish of its own at QoS 1 and 2, and doubles none at QoS 2',
    async () => {
      await stage.start();
      const reader = await subscribed('reader', KEPT);
      const publisher = program('publisher');
      await seconds(1);
      const sent = await playFor(PLAY_SECONDS, publisher, [publisher], WAYS);
      expect(publisher.noticed).toEqual(['connect']);
      expect(new Set(reader.of('q1'))).toEqual(new Set(sent));
      expect(reader.of('q2')).toEqual(sent);
    },
    TIMEOUT_MS,
  );

  it.each([
    ['ends with its connection', {}],
    ['stays', KEPT],
  ])(
    'is told of each message at QoS 2 that it was published, although it is cut each 0.7 s and functions are slow: a session that %s',
    async (_, options) => {
      let turn = 0;
      const delay = () => 150 * (turn++ % 3);
      await stage.start({ faults: { invocationDelayMs: delay, replyDelayMs: delay } });
      const reader = await subscribed('reader', KEPT);
      const publisher = program('publisher', options);
      await seconds(5);
      const sent = Array.from({ length: 300 }, (_, index) => String(index));
      const outcomes: Promise<string>[] = [];
      for (const [index, text] of sent.entries()) {
        outcomes.push(publisher.mqtt.publishAsync('q2', text, { qos: 2 }).then(() => 'published', String));
        if (index % 7 === 0) stage.world.emulator.cutConnection(publisher.connectionId);
        await stage.time.advance(100);
      }
      const told = await stage.time.during(Promise.all(outcomes), 600_000);
      expect(told.filter((outcome) => outcome !== 'published')).toEqual([]);
      await seconds(60);
      expect(reader.of('q2')).toEqual(sent);
    },
    TIMEOUT_MS,
  );

  it(
    'is cut three times at two hours before it has moved, and the program sees no disconnect',
    async () => {
      await stage.start({ gatewayLimits: { connectionDurationMs: 20_000 } });
      const readers = [await subscribed('short'), await subscribed('kept', KEPT)];
      const publisher = program('publisher');
      await seconds(1);
      const sent = await playFor(70, publisher, [], []);
      for (const reader of readers) {
        expect(reader.noticed).toEqual([]);
        expect(reader.told('resumed')).toBeGreaterThanOrEqual(3);
      }
      for (const reader of readers) {
        // The publisher repeats a message whose PUBACK it has not received: at least once.
        expect([...new Set(reader.of('q1'))]).toEqual(sent);
        expect(reader.of('q2')).toEqual(sent);
      }
      // Its own QoS 0 messages in unanswered frames: the publisher is told how many.
      const unknown = publisher.events.reduce(
        (sum, event) => sum + (event.type === 'gap' ? event.published : 0),
        0,
      );
      expect(sent.length - (readers[0]?.of('q0').length ?? 0)).toBeLessThanOrEqual(unknown);
      expect(publisher.noticed).toEqual(['connect']);
    },
    TIMEOUT_MS,
  );

  it(
    'comes back from half a minute without a network: a persistent session gets its messages, others are told of a gap',
    async () => {
      await stage.start();
      const readers = [await subscribed('short'), await subscribed('kept', KEPT)];
      const publisher = program('publisher');
      await seconds(1);
      for (const reader of readers) {
        reader.isOffline = true;
        stage.world.emulator.cutConnection(reader.connectionId);
      }
      const sent: string[] = [];
      for (let count = 0; count < 60; count += 1) {
        sent.push(String(count));
        publisher.mqtt.publish('q1', String(count), { qos: 1 });
        await stage.time.advance(500);
      }
      for (const reader of readers) reader.isOffline = false;
      await seconds(90);
      for (const reader of readers) expect(reader.noticed).toEqual([]);
      expect(readers[1]?.of('q1')).toEqual(sent);
      // The first messages: the others exceed the buffer.
      expect(readers[0]?.of('q1')).toEqual(sent.slice(0, 32));
      expect(readers[0]?.told('gap')).toBe(1);
    },
    TIMEOUT_MS,
  );
});
