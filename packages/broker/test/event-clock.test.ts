import { expect, it } from 'vitest';
import { EventClock, MessageClock } from '../src/index.ts';

function world() {
  const time = { nowMs: 1_000 };
  const clock = { now: () => time.nowMs };
  const shared = new MessageClock(clock, 'p');
  let events = 0;
  const event = () => new EventClock(shared, { clock, randomId: () => `e${++events}` });
  const ahead = (ms: number) => {
    const other = new MessageClock({ now: () => time.nowMs + ms }, 'other');
    other.next();
    return other.read();
  };
  return { time, event, ahead };
}

it('gives ids above a time that it has observed, and other events do not [SEC-CLOCK-1]', () => {
  const { event, ahead } = world();
  const [one, other] = [event(), event()];
  const seen = ahead(2_000);
  one.observe(seen, 3_000);
  expect(one.next() > seen).toBe(true);
  expect(one.read() > seen).toBe(true);
  expect(other.next() < seen).toBe(true);
});

it('ignores a time that is too far ahead', () => {
  const { event, ahead } = world();
  const clock = event();
  const seen = ahead(3_001);
  clock.observe(seen, 3_000);
  expect(clock.next() < seen).toBe(true);
});

it('gives ascending ids while the shared clock comes up to it, reaches it and passes it', () => {
  const { time, event, ahead } = world();
  const clock = event();
  clock.observe(ahead(3), 10);
  const ids: string[] = [];
  for (let step = 0; step < 12; step += 1) {
    ids.push(clock.next());
    if (step % 2 === 1) time.nowMs += 1;
  }
  expect(ids).toEqual([...new Set(ids)].sort());
});

it('gives ids that differ from those of another event that has observed the same time', () => {
  const { event, ahead } = world();
  const seen = ahead(5);
  const ids = [event(), event()].map((clock) => {
    clock.observe(seen, 10);
    return clock.next();
  });
  expect(new Set(ids).size).toBe(2);
});
