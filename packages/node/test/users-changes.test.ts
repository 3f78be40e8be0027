import { type Authorizer, type Broker, type Delivery, TURN_MS_MAX } from '@apus/broker';
import { UsersChanges } from '@apus/door';
import { expect, test } from 'vitest';
import { FakeScheduler } from './support/fake-scheduler.ts';

const OWNER = { tenant: 'default', source: 'users' };

/** Sessions `a` to `e` of Ada and `other` of Bob. Each look at one takes half a turn. */
function usersChanges() {
  const clock = new FakeScheduler();
  const done: string[] = [];
  const record = (clientId: string, name: string) => ({
    session: { tenant: 'default', clientId },
    identity: { tenant: 'default', name, source: 'users' },
  });
  const all = [
    ...['a', 'b', 'c', 'd', 'e'].map((clientId) => record(clientId, 'ada')),
    record('other', 'bob'),
  ];
  const sessions = {
    all: () => all,
    get: (_tenant: string, clientId: string) => all.find(({ session }) => session.clientId === clientId),
  };
  const authorizer = { maySubscribe: (_identity: unknown, _id: string, topic: string) => topic === 'public' };
  const log = { info: () => {}, error: (event: string) => done.push(event) };
  const changes = new UsersChanges(
    sessions as never,
    authorizer as unknown as Authorizer,
    clock,
    log as never,
  );
  const look = (clientId: string) => {
    clock.spend(TURN_MS_MAX / 2);
    done.push(clientId);
    if (clientId === 'c') throw new Error('its connection is broken');
  };
  const broker = {
    recheck: ({ clientId }: { readonly clientId: string }) => look(clientId),
    expel: (_tenant: string, clientId: string) => look(clientId),
  } as unknown as Broker;
  return { changes, broker, done };
}

test.each([
  ['changed', { publish: [], subscribe: [] }],
  ['removed', undefined],
])('the sessions of a user who was %s are looked at in turns [SEC-WORK-6]', async (_what, user) => {
  const { changes, broker, done } = usersChanges();
  const changing = changes.apply(broker, { ...OWNER, users: { get: () => user as never } }, ['ada']);
  setImmediate(() => done.push('other work'));
  await changing;
  expect(done).toEqual(['a', 'b', 'other work', 'c', 'users-change-failed', 'd', 'e']);
});

test('until all of them are, the new rules are asked for each message [SEC-RULES-6]', async () => {
  const { changes, broker } = usersChanges();
  const forbidden = (clientId: string, topic: string) =>
    changes.forbids?.({ session: { tenant: 'default', clientId } } as Delivery, topic);
  expect(changes.forbids).toBeUndefined();
  const changing = changes.apply(broker, { ...OWNER, users: { get: () => undefined } }, ['ada']);
  expect(forbidden('e', 'secret')).toBe(true);
  expect(forbidden('e', 'public')).toBe(false);
  expect(forbidden('other', 'secret')).toBe(false);
  await changing;
  expect(changes.forbids).toBeUndefined();
});
