import type { SessionRef } from '@apus/broker';
import { type ComposedStores, GatedWriter } from '@apus/store-disk';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { awakeScheduler } from '../src/alarm-clock.ts';
import { HubDrops } from '../src/hub-drops.ts';
import { Records } from '../src/storage/records.ts';
import { SimulatedObject } from './object/simulated-object.ts';

const QUIET_MS = 500;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** A session as it is after the object has slept so often. */
const sessionOf = (sleeps: number): SessionRef => ({
  ...{ key: 'tenant\0a', tenant: 'tenant', clientId: 'a' },
  ...{ incarnation: String(sleeps), attachment: undefined },
});

/** A hub's counts, where this session is there. */
function opened(object: SimulatedObject, session: SessionRef | undefined) {
  const records = new Records(object.storage);
  const writer = new GatedWriter(
    (operations) => records.commit(operations),
    () => {},
  );
  const drops = new HubDrops({ clock: awakeScheduler, writer, quietMs: QUIET_MS });
  const sessions = { get: () => session && { session } };
  drops.read(records, { sessions } as unknown as ComposedStores);
  const save = () => {
    vi.advanceTimersByTime(QUIET_MS);
    writer.flush();
  };
  return { drops, save };
}

it('tells a client what it has missed before the object slept, once', () => {
  const object = new SimulatedObject();
  const [first, second, third] = [1, 2, 3].map(sessionOf) as [SessionRef, SessionRef, SessionRef];
  const before = opened(object, first);
  before.drops.add(first, 'queue-full', 3);
  before.save();
  const after = opened(object, second);
  after.drops.add(second, 'too-large', 1);
  expect(after.drops.isDue(second, true)).toBe(true);
  expect(after.drops.take(second)).toEqual({ since: { 'queue-full': 3, 'too-large': 1 }, total: 4 });
  after.save();
  const last = opened(object, third);
  expect(last.drops.isDue(third, true)).toBe(false);
  expect(last.drops.of(third)).toEqual({ 'queue-full': 3, 'too-large': 1 });
});

it('keeps nothing of a session that has ended', () => {
  const object = new SimulatedObject();
  const { drops, save } = opened(object, sessionOf(1));
  drops.add(sessionOf(1), 'queue-full', 1);
  save();
  expect(object.rows.size).toBe(1);
  drops.forget(sessionOf(1));
  save();
  expect(object.rows.size).toBe(0);
  drops.add(sessionOf(1), 'queue-full', 1);
  save();
  opened(object, undefined).save();
  expect(object.rows.size).toBe(0);
});
