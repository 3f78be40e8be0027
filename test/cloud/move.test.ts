import type { IClientOptions } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { FAULT_KINDS, FaultPlan, type Rates } from '../faults/fault-plan.ts';
import { sized } from '../support/runs.ts';
import { Program } from './program.ts';
import { VirtualStage } from './virtual-stage.ts';

/** A busy machine may need longer; in virtual time the test takes none. */
const TIMEOUT_MS = 300_000;

/** Three days in CI, and six hours elsewhere. */
const DAYS = sized(0.25, 3);

/** The fewest moves of a connection of two hours within a day: each comes before 96 % of them have passed. */
const MOVES_A_DAY = 12;

const stage = new VirtualStage(7);
const { programs } = stage;

function program(name: string, options: IClientOptions = {}): Program {
  const made = new Program(stage.world.emulator, name, options);
  programs.push(made);
  return made;
}

const seconds = (count: number) => stage.seconds(count);

/** Connected and subscribed, without any event yet. */
async function subscribed(program: Program, filters: Record<string, { qos: 0 | 1 | 2 }>): Promise<Program> {
  await seconds(1);
  program.mqtt.subscribe(filters);
  await seconds(5);
  expect(program.noticed).toEqual(['connect']);
  program.noticed.length = 0;
  return program;
}

const ALL = { q0: { qos: 0 }, q1: { qos: 1 }, q2: { qos: 2 } } as const;
const TOPICS = ['q0', 'q1', 'q2'] as const;

describe('a connection that is never cut', () => {
  it(
    'shows its programs only messages for hours and days: none lost, doubled or out of order',
    async () => {
      await stage.start();
      const readers = [
        await subscribed(program('ephemeral'), ALL),
        await subscribed(program('ephemeral-3', { protocolVersion: 4 }), ALL),
        await subscribed(
          program('persistent', { clean: false, properties: { sessionExpiryInterval: 86_400 } }),
          ALL,
        ),
        await subscribed(program('persistent-3', { protocolVersion: 4, clean: false }), ALL),
      ];
      const publisher = program('publisher');
      await seconds(1);
      const sent: string[] = [];
      for (let second = 0; second < DAYS * 86_400; second += 240) {
        sent.push(String(second));
        for (const [qos, topic] of TOPICS.entries())
          publisher.mqtt.publish(topic, String(second), { qos: qos as 0 | 1 | 2 });
        await seconds(240);
      }
      for (const reader of readers) {
        for (const topic of TOPICS) expect(reader.of(topic)).toEqual(sent);
        expect(reader.noticed).toEqual([]);
        expect(reader.told('moved')).toBeGreaterThanOrEqual(DAYS * MOVES_A_DAY);
        expect(reader.connections).toBe(1 + reader.told('moved'));
      }
      expect(publisher.noticed).toEqual(['connect']);
      expect(publisher.told('moved')).toBeGreaterThanOrEqual(DAYS * MOVES_A_DAY);
    },
    TIMEOUT_MS,
  );

  it(
    'messages come one after another while publisher and subscribers move, and each arrives once, in order',
    async () => {
      await stage.start({ connectionSeconds: () => 1, inlineSubscribersMax: 2 });
      await playDensely(47);
    },
    TIMEOUT_MS,
  );

  // At the first seed a worker closes a connection, and its session is resumed.
  it.each([10, 11])(
    'messages arrive once and in order also while frames are handled late, and the store is slow, throttles and loses answers (seed %i)',
    async (seed) => {
      const rates = { ...NO_FAULTS, 'late-invocation': 0.05, 'store-slow': 0.02, 'store-answer-lost': 0.02 };
      const plan = new FaultPlan({ seed, rates, lateInvocationMsMax: 1_500, onStrike: () => {} });
      await stage.start({
        connectionSeconds: () => 1,
        inlineSubscribersMax: 2,
        faults: plan.gateway,
        dynamoFaults: plan.store,
      });
      await playDensely(100, () => {
        plan.isActive = true;
      });
    },
    TIMEOUT_MS,
  );

  it(
    'messages arrive once and in order where a cut loses posts of the last 100 ms, if the move waits longer than that',
    async () => {
      await stage.start({
        connectionSeconds: () => 1,
        inlineSubscribersMax: 2,
        faults: LATE_POSTS,
        cutAfterMs: 200,
      });
      await playDensely(97);
    },
    TIMEOUT_MS,
  );

  it(
    'messages are missing there if the move does not wait',
    async () => {
      await stage.start({ connectionSeconds: () => 1, inlineSubscribersMax: 2, faults: LATE_POSTS });
      await expect(playDensely(97)).rejects.toThrow(/to deeply equal/);
    },
    TIMEOUT_MS,
  );
});

/** Each post is answered 200, and leaves up to 100 ms later, in order, if its connection still exists. */
const LATE_POSTS = { postOvertaken: 1 };

const NO_FAULTS = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Rates;

/** Half of the readers are in a shard, which workers serve. */
async function playDensely(everyMs: number, begin?: () => void): Promise<void> {
  const readers: Program[] = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    const isPersistent = name === 'b' || name === 'd';
    const session = isPersistent ? { clean: false, properties: { sessionExpiryInterval: 86_400 } } : {};
    readers.push(await subscribed(program(name, session), ALL));
  }
  const publisher = program('publisher');
  await seconds(1);
  begin?.();
  const sent: string[] = [];
  for (let count = 0; count * everyMs < DENSE_MS; count += 1) {
    sent.push(String(count));
    for (const [qos, topic] of TOPICS.entries())
      publisher.mqtt.publish(topic, String(count), { qos: qos as 0 | 1 | 2 });
    await stage.time.advance(everyMs);
  }
  await seconds(60);
  for (const program of [...readers, publisher]) {
    expect(program.told('moved')).toBeGreaterThan(2);
    expect(program.noticed.filter((event) => event !== 'connect')).toEqual([]);
  }
  for (const [index, reader] of readers.entries())
    for (const topic of TOPICS) {
      const received = begin === undefined ? reader.of(topic) : owed(reader, topic, sent);
      expect(received, `reader ${index}, ${topic}`).toEqual(sent);
    }
}

/**
 * The reader's messages while the store fails. If an answer was lost, a message of QoS 1 may come twice. A worker that
 * does not know which posts have arrived closes the connection, and the session is resumed: missing messages of QoS 0
 * are reported with `gap`.
 */
function owed(reader: Program, topic: (typeof TOPICS)[number], sent: readonly string[]): readonly string[] {
  const received = reader.of(topic);
  if (topic === 'q1') return [...new Set(received)];
  if (topic !== 'q0' || reader.told('gap') === 0) return received;
  const told = new Set(received);
  return sent.filter((payload) => told.has(payload)).join() === received.join() ? sent : received;
}

/** Some moves of each client; each takes a second. */
const DENSE_MS = sized(4_000, 25_000);
