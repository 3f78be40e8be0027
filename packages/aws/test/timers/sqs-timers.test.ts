import type { SessionRef, Timer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { decodeTimer, encodeTimer, type TimerMessage } from '../../src/timers/message.ts';
import { SqsTimers } from '../../src/timers/sqs-timers.ts';
import { FakeTime } from '../support/fake-time.ts';
import { DelayQueue } from '../support/timers-world.ts';

const SESSION: SessionRef = {
  key: 't\0c',
  tenant: 't',
  clientId: 'c',
  incarnation: 'i',
  attachment: undefined,
};

function setUp() {
  const time = new FakeTime();
  const queue = new DelayQueue(time);
  const timers = new SqsTimers({ queue, clock: time });
  const timer = (kind: Timer['kind']): Timer => ({ kind, session: SESSION, connectionId: 'connection' });
  return {
    time,
    queue,
    timers,
    timer,
    set: (kind: Timer['kind'], inMs: number) => timers.set(timer(kind), time.nowMs + inMs),
    again: (inMs: number) =>
      timers.armAgain({ ...timer('will'), session: SESSION, dueAtMs: time.nowMs + inMs }),
    delays: () => queue.sent.map(({ delaySeconds }) => delaySeconds),
  };
}

describe('a timer in SQS', () => {
  it('is delayed until it is due, in whole seconds and never less', async () => {
    const { set, delays } = setUp();
    await set('will', 5_000);
    await set('will', 5_001);
    await set('will', 0);
    await set('will', -10_000);
    expect(delays()).toEqual([5, 6, 0, 0]);
  });

  it('shares one request with another that is set at the same moment', async () => {
    const { time, timers, queue, timer, delays } = setUp();
    let requests = 0;
    const send = queue.send.bind(queue);
    queue.send = async (entries) => {
      requests += 1;
      await send(entries);
    };
    await timers.setAll([
      { timer: timer('will'), dueAtMs: time.nowMs + 5_000 },
      { timer: timer('session-expiry'), dueAtMs: time.nowMs + 60_000 },
    ]);
    await timers.setAll([{ timer: timer('session-expiry'), dueAtMs: time.nowMs + 3_600_001 }]);
    expect([requests, delays()]).toEqual([1, [5, 60]]);
  });

  it('is delayed by no more than SQS can', async () => {
    const { set, delays } = setUp();
    await set('will', 900_000);
    await set('will', 900_001);
    await set('will', 7 * 24 * 60 * 60 * 1_000);
    expect(delays()).toEqual([900, 900, 900]);
  });

  it('waits at least a second when it is armed again, even if clocks disagree', async () => {
    const { again, delays } = setUp();
    await again(1);
    await again(0);
    await again(-5_000);
    await again(1_001);
    expect(delays()).toEqual([1, 1, 1, 2]);
  });

  it('names its session, and the time at which it is due', async () => {
    const { time, queue, set } = setUp();
    await set('session-expiry', 1_000_000);
    expect(decodeTimer(queue.sent[0]?.body ?? '')).toEqual({
      kind: 'session-expiry',
      session: { tenant: 't', clientId: 'c', incarnation: 'i' },
      connectionId: 'connection',
      dueAtMs: time.nowMs + 1_000_000,
    });
  });

  it('is not set for a session that ends more than an hour later: the sweep finds it', async () => {
    const { set, delays } = setUp();
    await set('session-expiry', 3_600_001);
    expect(delays()).toEqual([]);
    await set('session-expiry', 3_600_000);
    expect(delays()).toEqual([900]);
  });
});

describe('the message of a timer', () => {
  const timer: TimerMessage = {
    kind: 'liveness',
    session: { tenant: 't', clientId: 'c', incarnation: '' },
    connectionId: 'L0SM9cOFvHcCIhw=',
    dueAtMs: 1_700_000_000_000,
  };

  it.each(['a"b\\c', 'ä€😀', '\ufffe\uffff', '\u007f', '<&>', '\ud800'])(
    'holds any client identifier in characters that SQS takes: %j',
    (clientId) => {
      const each = { ...timer, session: { ...timer.session, clientId } };
      const body = encodeTimer(each);
      expect(body).toMatch(/^[\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u);
      expect(decodeTimer(body)).toEqual(each);
    },
  );

  it.each([
    ['no JSON', 'x'],
    ['no object', '1'],
    ['nothing', 'null'],
    ['no version', encodeTimer(timer).replace('"v":1,', '')],
    ['a version before the first', encodeTimer(timer).replace('"v":1', '"v":0')],
    ['no kind', encodeTimer(timer).replace('"kind":"liveness",', '')],
    ['no time', encodeTimer(timer).replace(/"dueAtMs":\d+/, '"dueAtMs":"soon"')],
    ['no connection', encodeTimer(timer).replace('connectionId', 'id')],
    ['no client', encodeTimer(timer).replace('"clientId":"c"', '"clientId":1')],
  ])('is not read from %s', (_, body) => {
    expect(decodeTimer(body)).toBeUndefined();
  });

  it.each([
    ['version', encodeTimer(timer).replace('"v":1', '"v":2')],
    ['version without anything of this one', '{"v":7,"q":[]}'],
    ['kind', encodeTimer(timer).replace('liveness', 'alarm')],
  ])('is newer than this code where it does not know the %s', (_, body) => {
    expect(decodeTimer(body)).toBe('newer');
  });
});
