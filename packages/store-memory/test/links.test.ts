import type { LinkState } from '@apus/broker';
import { expect, test } from 'vitest';
import { ENDED_STATES_PER_HOLDER_MAX, MemoryLinks } from '../src/links.ts';

const MINUTE_MS = 60_000;

function connectedAs(name: string): LinkState {
  const identity = { tenant: 't', name };
  const session = { key: `t\0${name}`, tenant: 't', clientId: name, incarnation: '1', attachment: undefined };
  return { phase: 'connected', connection: { identity, session }, isDraining: false, replays: [] } as never;
}

test('beyond its limit an identity loses the state of its own oldest connection, and no other one does [SEC-GROWTH-6]', () => {
  let nowMs = 0;
  const links = new MemoryLinks({ now: () => nowMs, steady: () => nowMs });
  const end = (connectionId: string, name: string) => {
    links.save(connectionId, connectedAs(name));
    links.end(connectionId);
  };
  const before = (connectionId: string) => {
    const state = links.load(connectionId);
    return state?.phase === 'closed' ? (state.before?.phase ?? 'forgotten') : state?.phase;
  };
  end('other', 'other');
  for (let index = 0; index <= ENDED_STATES_PER_HOLDER_MAX; index += 1) end(`greedy-${index}`, 'greedy');
  expect(before('other')).toBe('connected');
  expect(before('greedy-0')).toBe('forgotten');
  expect(before('greedy-1')).toBe('connected');
  // It has ended all the same.
  expect(links.save('greedy-0', connectedAs('greedy'))).toBe(false);
  expect(links.resume('greedy-0', 'new')).toBeUndefined();
  // Tombstones that are over give their places back.
  nowMs = 6 * MINUTE_MS;
  end('last', 'other');
  expect(before('greedy-1')).toBeUndefined();
  end('greedy-last', 'greedy');
  expect(before('greedy-last')).toBe('connected');
});
