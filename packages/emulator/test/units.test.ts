import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../src/clock/clock.ts';
import { FreezingClock } from '../src/clock/freezing-clock.ts';
import { ManualClock } from '../src/clock/manual-clock.ts';
import { Random } from '../src/clock/random.ts';
import { Shuffler } from '../src/clock/shuffler.ts';
import { allows } from '../src/gateway/policy.ts';
import { gatewayId, isGatewayId, uuid } from '../src/ids.ts';
import { TokenBucket } from '../src/management/token-bucket.ts';
import { eventually } from './support.ts';

test('a manual clock calls timers in order, each at its own instant, and those that timers set', async () => {
  const clock = new ManualClock(0);
  const calls: [string, number][] = [];
  clock.setTimer(20, () => calls.push(['second', clock.now()]));
  clock.setTimer(10, () => {
    calls.push(['first', clock.now()]);
    Promise.resolve().then(() => clock.setTimer(5, () => calls.push(['nested', clock.now()])));
  });
  clock.setTimer(15, () => calls.push(['cancelled', clock.now()]))();
  clock.setTimer(31, () => calls.push(['later', clock.now()]));
  await clock.advance(30);
  expect(calls).toEqual([
    ['first', 10],
    ['nested', 15],
    ['second', 20],
  ]);
  expect(clock.now()).toBe(30);
  expect(clock.pending).toBe(1);
});

test('the system clock calls back, and not after a cancel', async () => {
  let cancelledRang = false;
  systemClock.setTimer(0, () => {
    cancelledRang = true;
  })();
  await new Promise<void>((resolve) => systemClock.setTimer(1, resolve));
  expect(cancelledRang).toBe(false);
});

test('a timer of a frozen environment fires when it thaws, unless it was cancelled', async () => {
  const clock = new ManualClock();
  const freezing = new FreezingClock(clock);
  const fired: string[] = [];
  freezing.setTimer(10, () => fired.push('kept'));
  const cancel = freezing.setTimer(10, () => fired.push('cancelled'));
  freezing.setTimer(10_000, () => fired.push('not due'));
  freezing.freeze();
  await clock.advance(20);
  expect(fired).toEqual([]);
  cancel();
  freezing.thaw();
  expect(fired).toEqual(['kept']);
  freezing.stop();
  expect(clock.pending).toBe(0);
});

test('a token bucket gives its burst at once, and then its rate', async () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket(clock, 10, 3);
  const takeAll = () => {
    let taken = 0;
    while (bucket.take()) taken += 1;
    return taken;
  };
  expect(takeAll()).toBe(3);
  await clock.advance(250);
  expect(takeAll()).toBe(2);
  await clock.advance(50);
  expect(takeAll()).toBe(1);
  await clock.advance(60_000);
  expect(takeAll()).toBe(3);
});

test.each([-2_000, -3_600_000, 3_600_000])(
  'the system clock goes on where the wall clock steps by %i ms',
  (ms) => {
    const before = systemClock.now();
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
    onTestFinished(() => void vi.restoreAllMocks());
    const passedMs = systemClock.now() - before;
    expect(passedMs).toBeGreaterThanOrEqual(0);
    expect(passedMs).toBeLessThan(1_000);
  },
);

test('a token bucket loses nothing where its clock goes back', () => {
  let nowMs = 0;
  const clock = { now: () => nowMs, setTimer: () => () => {} };
  const bucket = new TokenBucket(clock, 10, 3);
  expect(bucket.take()).toBe(true);
  nowMs = -3_600_000;
  expect(bucket.take()).toBe(true);
  nowMs += 100;
  expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([true, true, false]);
});

test('the same seed makes the same choices, in the same order', async () => {
  const shuffled = async (seed: number) => {
    const shuffler = new Shuffler(new Random(seed));
    const order: number[] = [];
    for (let task = 0; task < 30; task++) shuffler.add(() => order.push(task));
    await eventually(() => order.length === 30);
    return order;
  };
  const first = await shuffled(1);
  expect(await shuffled(1)).toEqual(first);
  expect(await shuffled(2)).not.toEqual(first);
  expect(first).not.toEqual(first.toSorted((a, b) => a - b));
});

test('random numbers are spread over [0, 1)', () => {
  const random = new Random(3);
  const tenths = Array.from({ length: 10 }, () => 0);
  for (let draw = 0; draw < 10_000; draw++) {
    const tenth = random.integer(10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) expect(count).toBeGreaterThan(850);
});

test('a probability of 0 or 1 draws nothing', () => {
  const random = new Random(3);
  const expected = new Random(3).next();
  expect([random.happens(0), random.happens(1)]).toEqual([false, true]);
  expect(random.next()).toBe(expected);
});

test('ids have the form of the cloud', () => {
  const random = new Random(4);
  expect(isGatewayId(gatewayId(random))).toBe(true);
  expect(uuid(random)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(isGatewayId('nonsense')).toBe(false);
});

const ARN = 'arn:aws:execute-api:us-east-1:123456789012:a1b2c3d4e5/mqtt/$connect';
const statement = (Effect: string, Resource: unknown, Action: unknown = 'execute-api:Invoke') => ({
  Action,
  Effect,
  Resource,
});

test.each<[string, unknown, boolean]>([
  ['the very resource', [statement('Allow', ARN)], true],
  ['a wildcard', [statement('Allow', ['x', 'arn:aws:execute-api:*/$connect'])], true],
  ['any action', [statement('Allow', '*', '*')], true],
  ['another stage', [statement('Allow', ARN.replace('mqtt', 'prod'))], false],
  ['a resource where $ would be a pattern', [statement('Allow', 'arn:.*')], false],
  ['another action', [statement('Allow', '*', 'execute-api:ManageConnections')], false],
  ['an Allow and a Deny', [statement('Allow', '*'), statement('Deny', ARN)], false],
  ['no statement', [], false],
  ['no list', 'Allow', false],
])('a policy with %s', (_title, Statement, expected) => {
  expect(allows({ Version: '2012-10-17', Statement }, ARN)).toBe(expected);
});
