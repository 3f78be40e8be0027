import { type SessionRef, type Timer, TURN_MS_MAX } from '@apus/broker';
import { LocalTimers, systemScheduler } from '@apus/door';
import { expect, test, vi } from 'vitest';
import { FakeScheduler } from './support/fake-scheduler.ts';

function timer(clientId: string, kind: Timer['kind'] = 'will', connectionId = '1'): Timer {
  const session: SessionRef = {
    key: `default\0${clientId}`,
    tenant: 'default',
    clientId,
    incarnation: '1',
    attachment: undefined,
  };
  return { kind, session, connectionId };
}

function timers() {
  const scheduler = new FakeScheduler();
  const fired: string[] = [];
  const subject = new LocalTimers(scheduler, ({ timer: { kind, session } }) =>
    fired.push(`${kind} ${session.clientId}`),
  );
  return { scheduler, fired, subject, startMs: scheduler.now() };
}

test('timers fire in the order of their times, and not before', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.set(timer('late'), startMs + 2000);
  subject.set(timer('early'), startMs + 1000);
  scheduler.advance(999);
  expect(fired).toEqual([]);
  scheduler.advance(1);
  expect(fired).toEqual(['will early']);
  scheduler.advance(1000);
  expect(fired).toEqual(['will early', 'will late']);
});

test('timers that a start has found fire in order with those that are set later, unless they are cancelled or replaced', () => {
  const { scheduler, fired, subject, startMs } = timers();
  const found = (clientId: string, delayMs: number) => ({
    ...{ timer: timer(clientId), dueAtMs: startMs + delayMs },
  });
  subject.restore([
    found('late', 3000),
    found('cancelled', 1500),
    found('early', 1000),
    found('replaced', 500),
  ]);
  scheduler.step(60_000);
  subject.cancel(timer('cancelled'));
  subject.set(timer('replaced'), scheduler.now() + 2500);
  scheduler.advance(999);
  expect(fired).toEqual([]);
  scheduler.advance(1);
  expect(fired).toEqual(['will early']);
  scheduler.advance(2000);
  expect(fired).toEqual(['will early', 'will replaced', 'will late']);
});

test('timers that a start has found fire where nothing else happens', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.restore([1000, 500].map((ms) => ({ timer: timer(String(ms)), dueAtMs: startMs + ms })));
  scheduler.advance(500);
  expect(fired).toEqual(['will 500']);
  scheduler.advance(500);
  expect(fired).toEqual(['will 500', 'will 1000']);
});

test('a later call for the same kind, session and connection replaces the earlier one', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.set(timer('a'), startMs + 1000);
  subject.set(timer('a', 'session-expiry'), startMs + 1500);
  subject.set(timer('a'), startMs + 3000);
  scheduler.advance(2000);
  expect(fired).toEqual(['session-expiry a']);
  scheduler.advance(1000);
  expect(fired).toEqual(['session-expiry a', 'will a']);
});

test('the wills of two connections of one session fire separately', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.set(timer('a', 'will', '1'), startMs + 1000);
  subject.set(timer('a', 'will', '2'), startMs + 1000);
  subject.cancel(timer('a', 'will', '3'));
  scheduler.advance(1000);
  expect(fired).toEqual(['will a', 'will a']);
});

test('a cancelled timer does not fire, and the timers behind it do', () => {
  const { scheduler, fired, subject, startMs } = timers();
  const first = timer('first');
  subject.set(first, startMs + 1000);
  subject.set(timer('second'), startMs + 2000);
  subject.cancel(first);
  scheduler.advance(5000);
  expect(fired).toEqual(['will second']);
});

test('a timer whose time has passed fires at the next turn, not within the call', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.set(timer('a'), startMs - 1);
  expect(fired).toEqual([]);
  scheduler.advance(0);
  expect(fired).toEqual(['will a']);
});

test('no timer fires after stop', () => {
  const { scheduler, fired, subject, startMs } = timers();
  subject.set(timer('a'), startMs + 10);
  subject.stop();
  subject.set(timer('b'), startMs + 10);
  scheduler.advance(1000);
  expect(fired).toEqual([]);
});

test('the system can wait longer than setTimeout', () => {
  vi.useFakeTimers();
  try {
    const fortyDaysMs = 40 * 24 * 60 * 60 * 1000;
    let fired = false;
    systemScheduler.after(fortyDaysMs, () => {
      fired = true;
    });
    vi.advanceTimersByTime(fortyDaysMs - 1);
    expect(fired).toBe(false);
    vi.advanceTimersByTime(1);
    expect(fired).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('when the wills of many clients take longer than a turn, other work comes in between [SEC-WORK-6]', () => {
  const scheduler = new FakeScheduler();
  const done: string[] = [];
  const subject = new LocalTimers(scheduler, ({ timer: { session } }) => {
    scheduler.spend(TURN_MS_MAX / 2);
    done.push(session.clientId);
  });
  const dueAtMs = scheduler.now() + 1000;
  for (const clientId of ['a', 'b', 'c', 'd', 'e']) subject.set(timer(clientId), dueAtMs);
  scheduler.after(1000, () => done.push('other work'));
  scheduler.advance(1000);
  expect(done.indexOf('other work')).toBe(2);
  expect(done.sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'other work']);
});
