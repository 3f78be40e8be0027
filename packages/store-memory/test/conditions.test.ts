import type { SessionRef, Subscription } from '@apus/broker';
import { openedOf, openOf, subscriptionTo } from '@apus/broker/samples';
import { expect, it } from 'vitest';
import { createMemoryStores, MemoryBudget } from '../src/index.ts';
import {
  CONDITIONS_PER_FILTER_MAX,
  CONDITIONS_PER_IDENTITY_MAX,
  CONDITIONS_PER_SESSION_MAX,
} from '../src/subscriptions.ts';

const TENANT = 'tenant';
const MAXIMUM = 1_000;

function opened() {
  const budget = new MemoryBudget();
  const stores = createMemoryStores(budget);
  const open = (clientId: string) => openedOf(stores.sessions.open(openOf(clientId))).session;
  const named = (clientId: string, name: string) =>
    openedOf(stores.sessions.open({ ...openOf(clientId), identity: { tenant: TENANT, name } })).session;
  const put = (session: SessionRef, fields: Partial<Subscription>, maximum = MAXIMUM) =>
    stores.subscriptions.put(session, [{ ...subscriptionTo('a'), ...fields }], maximum)[0];
  const conditionsOf = (topic: string) =>
    stores.subscriptions.match(TENANT, topic).map(({ conditions }) => conditions && [...conditions.keys()]);
  return { budget, stores, open, named, put, conditionsOf };
}

it('a match says which conditions its subscribers have', () => {
  const { stores, open, put, conditionsOf } = opened();
  const [one, two] = [open('one'), open('two')];
  put(one, {});
  expect(conditionsOf('a')).toEqual([undefined]);
  put(one, { where: 'x' });
  put(two, { where: 'x' });
  expect(conditionsOf('a')).toEqual([['x']]);
  put(two, { where: 'y' });
  expect(conditionsOf('a')).toEqual([['x', 'y']]);
  stores.subscriptions.remove(one, [{ topicFilter: 'a' }]);
  expect(conditionsOf('a')).toEqual([['y']]);
  put(two, {});
  expect(conditionsOf('a')).toEqual([undefined]);
});

it('the memory of a condition is counted, also where it takes the place of another', () => {
  const { budget, stores, open, put } = opened();
  const bytes = () => budget.bytes;
  const session = open('one');
  const before = bytes();
  put(session, {});
  const plain = bytes();
  put(session, { where: 'x'.repeat(1_000) });
  expect(bytes() - plain).toBeGreaterThan(1_000);
  put(session, {});
  expect(bytes()).toBe(plain);
  put(session, { where: 'x'.repeat(1_000) });
  stores.subscriptions.remove(session, [{ topicFilter: 'a' }]);
  expect(bytes()).toBe(before);
});

it('a session has so many conditions, and no more [SEC-WORK-11]; what was granted before is restored', () => {
  const { open, put } = opened();
  const session = open('one');
  for (let n = 0; n < CONDITIONS_PER_SESSION_MAX; n += 1)
    expect(put(session, { topicFilter: `a/${n}`, where: 'x' })).toBe('added');
  expect(put(session, { topicFilter: 'b', where: 'x' })).toBe('too-many-conditions');
  expect(put(session, { topicFilter: 'b' })).toBe('added');
  expect(put(session, { topicFilter: 'b', where: 'x' })).toBe('too-many-conditions');
  expect(put(session, { topicFilter: 'a/0', where: 'y' })).toBe('replaced');
  expect(put(session, { topicFilter: 'b', where: 'x' }, Number.POSITIVE_INFINITY)).toBe('replaced');
});

it('a filter has so many distinct conditions, and any number of subscribers with them', () => {
  const { open, named, put } = opened();
  for (let n = 0; n < CONDITIONS_PER_FILTER_MAX; n += 1)
    expect(put(named(`c${n}`, `user${n % 2}`), { where: `payload.t > ${n}` })).toBe('added');
  expect(put(open('late'), { where: 'another' })).toBe('too-many-conditions');
  expect(put(open('late'), { where: 'payload.t > 7' })).toBe('added');
  expect(put(open('group'), { shareGroup: 'g', where: 'another' })).toBe('added');
  expect(put(open('elsewhere'), { topicFilter: 'b', where: 'another' })).toBe('added');
});

it('one identity brings half of the conditions of a filter, and leaves room to others [SEC-WORK-11]', () => {
  const { named, put } = opened();
  const ofMallory = (n: number) => named(`m${n}`, 'mallory');
  for (let n = 0; n < CONDITIONS_PER_IDENTITY_MAX; n += 1)
    expect(put(ofMallory(n), { where: `payload.t > ${n}` })).toBe('added');
  expect(put(ofMallory(100), { where: 'another' })).toBe('too-many-conditions');
  expect(put(named('a', 'ada'), { where: 'another' })).toBe('added');
  expect(put(ofMallory(101), { where: 'another' })).toBe('added');
});
