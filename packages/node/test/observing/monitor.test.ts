import { DROPPED_FIGURES, type MonitorSample } from '@apus/api';
import { sessionKey } from '@apus/broker';
import { DropMeter } from '@apus/door';
import { describe, expect, test } from 'vitest';
import { Alarms, type Gauges, PAST_ALARMS_MAX } from '../../src/observing/alarms.ts';
import { Monitor, SAMPLE_SECONDS, SAMPLES_ANSWERED_MAX, SAMPLES_MAX } from '../../src/observing/monitor.ts';
import { Observer } from '../../src/observing/observer.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';

type Numbers = Omit<MonitorSample, 'time_stamp'>;

const NONE = {
  ...{ live_connections: 0, connections: 0, subscriptions: 0, retained: 0, received: 0, sent: 0 },
  ...{ received_bytes: 0, sent_bytes: 0, connects: 0, refused: 0, dropped: 0 },
  ...Object.fromEntries(DROPPED_FIGURES.map((name) => [name, 0])),
} as unknown as Numbers;

const CALM: Gauges = {
  ...{ memoryBytes: 1, memoryBytesMax: 100, connections: 1, connectionsMax: 100, refusedCredentials: 0 },
};

function monitor() {
  const clock = new FakeScheduler();
  const counts = { ...NONE } as { -readonly [K in keyof Numbers]: number };
  const of = new Monitor(clock, () => ({ ...counts }));
  const pass = (seconds: number) => {
    for (let at = 0; at < seconds; at += SAMPLE_SECONDS) {
      clock.advance(SAMPLE_SECONDS * 1000);
      of.look();
    }
  };
  return { clock, counts, of, pass };
}

describe('the figures of the last day', () => {
  test('say how many there were, and what was added', () => {
    const { clock, counts, of, pass } = monitor();
    Object.assign(counts, { live_connections: 3, received: 100 });
    pass(30);
    Object.assign(counts, { live_connections: 2, received: 130, 'dropped.queue_full': 7, dropped: 7 });
    pass(30);
    expect(of.latest(3_600)).toMatchObject([
      { live_connections: 3, received: 100, dropped: 0 },
      { live_connections: 2, received: 30, dropped: 7, 'dropped.queue_full': 7, time_stamp: clock.now() },
    ]);
    expect(of.latest(30)).toHaveLength(1);
  });

  test('are a day at most, and 360 samples of an answer', () => {
    const { counts, of, pass } = monitor();
    for (let hour = 0; hour < 26; hour += 1) {
      counts.received += 120;
      pass(3_600);
    }
    const day = of.latest(86_400);
    expect(day.length).toBeLessThanOrEqual(SAMPLES_ANSWERED_MAX + 1);
    expect(day.reduce((sum, { received }) => sum + received, 0)).toBe(24 * 120);
    expect(SAMPLES_MAX).toBe(2_880);
  });

  test('go on where the clock was set back', () => {
    const { clock, of, pass } = monitor();
    clock.step(-7_200_000);
    pass(60);
    expect(of.latest(3_600).length).toBeGreaterThan(0);
  });
});

describe('an alarm', () => {
  test('lasts as long as its condition, and says what to do in a sentence', () => {
    const clock = new FakeScheduler();
    const alarms = new Alarms(clock);
    const sample = { ...NONE, dropped: 12, time_stamp: 0 };
    alarms.look(sample, { ...CALM, memoryBytes: 95, connections: 90, refusedCredentials: 500 });
    expect(
      alarms
        .list(true)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['connections_nearly_full', 'credentials_refused', 'memory_nearly_full', 'messages_dropped']);
    for (const { message } of alarms.list(true)) expect(message).toMatch(/^[A-Z0-9].*\.$/);
    clock.advance(30_000);
    alarms.look({ ...NONE, time_stamp: 0 }, { ...CALM, refusedCredentials: 500 });
    expect(alarms.list(true)).toEqual([]);
    expect(alarms.list(false)[0]).toMatchObject({ duration: 30_000, deactivate_at: expect.any(String) });
    alarms.clearPast();
    expect(alarms.list(false)).toEqual([]);
  });

  test('of an error in the log ends when it has not come for ten minutes', () => {
    const clock = new FakeScheduler();
    const alarms = new Alarms(clock);
    for (let time = 0; time < 3; time += 1)
      alarms.note('error', 'users-file-not-read', {
        error: 'users.json is not JSON\n    at parse (…)\u001b[2J',
      });
    alarms.note('warn', 'connect-refused', {});
    expect(alarms.list(true)).toMatchObject([{ name: 'users-file-not-read', count: 3 }]);
    const [{ message } = { message: '' }] = alarms.list(true);
    expect(message).toBe('The users file is wrong. It says: users.json is not JSON');
    clock.advance(600_001);
    alarms.look({ ...NONE, time_stamp: 0 }, CALM);
    expect(alarms.list(true)).toEqual([]);
  });

  test('that is over is one of 200', () => {
    const alarms = new Alarms(new FakeScheduler());
    for (let turn = 0; turn < PAST_ALARMS_MAX + 10; turn += 1)
      for (const dropped of [1, 0]) alarms.look({ ...NONE, dropped, time_stamp: 0 }, CALM);
    expect(alarms.list(false)).toHaveLength(PAST_ALARMS_MAX);
  });
});

test('what a client has missed stands in its history, by reason, and among those that miss most', () => {
  const clock = new FakeScheduler();
  const drops = new DropMeter(clock);
  const observer = new Observer(clock);
  observer.begin({ drops, figures: () => NONE, gauges: () => CALM });
  const session = (tenant: string, clientId: string) => ({
    ...{ tenant, clientId, key: sessionKey(tenant, clientId), incarnation: 'i', attachment: undefined },
  });
  drops.add(session('default', 'slow'), 'queue-full', 5);
  drops.add(session('default', 'slow'), 'slow-consumer', 2);
  drops.add(session('acme', 'slow'), 'queue-full', 9);
  clock.advance(30_000);
  observer.look();
  drops.add(session('default', 'slow'), 'queue-full', 3);
  clock.advance(30_000);
  observer.look();
  clock.advance(30_000);
  observer.look();
  const found = observer.events.newest('default', 'slow');
  expect(found.map(({ event, reason, count }) => [event, reason, count])).toEqual([
    ['dropped', 'queue_full', 8],
    ['dropped', 'qos0_msg', 2],
  ]);
  expect(drops.most('default', 10)).toMatchObject([
    { clientId: 'slow', counts: { 'queue-full': 8, 'slow-consumer': 2 }, grewAtMs: clock.now() - 30_000 },
  ]);
});
