import { type Identity, rulesOfLists } from '@apus/broker';
import { createChain, GuessLimiter, hashPassword, readIdentity, type UserEntry } from '@apus/identity';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attachmentOf, openOf } from '../../../broker/contract/samples.ts';
import { askOperator, LOG } from '../support/ask-operator.ts';
import { TimersWorld } from '../support/timers-world.ts';

let ada: UserEntry;
let otherHash: string;
beforeAll(async () => {
  const password = await hashPassword(Buffer.from('right'));
  otherHash = await hashPassword(Buffer.from('other'));
  ada = { name: 'ada', password, publish: ['%u/#'], subscribe: [], clientIds: ['%u-+'] };
});

let world: TimersWorld;
beforeEach(async () => {
  world = await TimersWorld.create();
});

const ask = (request: object) => askOperator(world, request);

/** The answer of the function of handshakes to a CONNECT with a password; one process for all calls. */
function chainOfTable(configuration: object = { table: true }) {
  const clock = { now: () => world.time.nowMs };
  const { users } = world.process().cloud.stores;
  const chain = createChain(
    readIdentity({ authenticators: [{ users: configuration }], mqttPassword: true }, 'test'),
    {
      clock,
      log: LOG,
      limiter: new GuessLimiter(clock),
      readUser: (tenant, name) => users.get(tenant, name),
    },
  );
  return (username: string, password: string) =>
    chain.authenticate({
      clientId: 'c',
      username,
      password: Buffer.from(password),
      peer: { address: '192.0.2.1' },
    });
}

describe('users of a deployment', () => {
  it('are added through the operator’s function, and connect with their rules in the identity', async () => {
    const login = chainOfTable();
    expect(await login('ada', 'right')).toMatchObject({ refused: 0x86 });
    expect(await ask({ action: 'add-user', user: ada })).toEqual({ added: true });
    const identity: Identity = {
      tenant: 'default',
      name: 'ada',
      clientIds: ['%u-+'],
      rules: rulesOfLists(['%u/#'], []),
      source: 'users',
    };
    expect(await login('ada', 'right')).toEqual(identity);
    expect(await login('ada', 'right')).toEqual(identity);
    expect(await login('ada', 'wrong')).toMatchObject({ refused: 0x86 });
    expect(await ask({ action: 'add-user', user: ada })).toEqual({ added: false });
  });

  it('are listed without their hashes, of one tenant, a page at a time', async () => {
    for (let index = 0; index < 105; index += 1)
      await ask({ action: 'add-user', user: { ...ada, name: `user-${String(index).padStart(3, '0')}` } });
    await ask({ action: 'add-user', user: ada, tenant: 'shop' });
    const first = (await ask({ action: 'users' })) as { users: UserEntry[]; next: string };
    expect(first.users).toHaveLength(100);
    expect(first.users[0]).toEqual({
      name: 'user-000',
      publish: ['%u/#'],
      subscribe: [],
      clientIds: ['%u-+'],
    });
    const rest = await ask({ action: 'users', after: first.next });
    expect(rest).toEqual({ users: expect.objectContaining({ length: 5 }) });
    expect(await ask({ action: 'users', tenant: 'shop' })).toMatchObject({ users: [{ name: 'ada' }] });
    expect(await chainOfTable({ table: true, tenant: 'shop' })('ada', 'right')).toMatchObject({
      tenant: 'shop',
    });
  });

  it('have another password from the next CONNECT on, also in a process that remembers the former one', async () => {
    const login = chainOfTable();
    await ask({ action: 'add-user', user: ada });
    expect(await login('ada', 'right')).toMatchObject({ name: 'ada' });
    expect(await ask({ action: 'set-password', name: 'ada', password: otherHash })).toEqual({
      changed: true,
    });
    expect(await login('ada', 'right')).toMatchObject({ refused: 0x86 });
    expect(await login('ada', 'other')).toMatchObject({ name: 'ada', clientIds: ['%u-+'] });
    expect(await ask({ action: 'set-password', name: 'eve', password: otherHash })).toEqual({
      changed: false,
    });
  });

  it('are gone with their sessions when they are removed; tokens of the same name stay', async () => {
    const { sessions } = world.process().cloud.stores;
    const login = chainOfTable();
    await ask({ action: 'add-user', user: ada });
    const identity = (await login('ada', 'right')) as Identity;
    const open = (clientId: string, as: Identity) =>
      sessions.open(
        openOf(clientId, { tenant: 'default', identity: as, attachment: attachmentOf(`${clientId}-1`) }),
      );
    await open('ada-phone', identity);
    await open('ada-token', { ...identity, source: 'jwt', expiresAtMs: world.time.nowMs + 600_000 });
    await open('bob', { ...identity, name: 'bob' });
    expect(await ask({ action: 'remove-user', name: 'ada' })).toEqual({
      removed: true,
      expelled: 1,
      isComplete: true,
    });
    expect(await login('ada', 'right')).toMatchObject({ refused: 0x86 });
    expect(await sessions.get('default', 'ada-phone')).toBeUndefined();
    for (const stays of ['ada-token', 'bob']) expect(await sessions.get('default', stays)).toBeDefined();
    expect(await ask({ action: 'remove-user', name: 'ada' })).toMatchObject({ removed: false });
  });

  it.each([
    [{ action: 'add-user' }, 'user'],
    [{ action: 'add-user', user: { ...{ name: 'ada' }, password: 'plain' } }, 'has to be a hash'],
    [{ action: 'add-user', user: { name: '', password: '' } }, 'users[0].name'],
    [{ action: 'set-password', name: 'ada', password: 'plain' }, '"password" is a hash'],
    [{ action: 'set-password' }, '"name" is missing'],
    [{ action: 'remove-user' }, '"name" is missing'],
  ])('%j is answered with a sentence', async (request, sentence) => {
    expect(await ask(request)).toEqual({ error: expect.stringContaining(sentence) });
  });

  it('cannot be read while the table is away: 0x88, and no password is judged', async () => {
    const clock = { now: () => 0 };
    const chain = createChain(readIdentity({ authenticators: [{ users: { table: true } }] }, 'test'), {
      clock,
      log: LOG,
      limiter: new GuessLimiter(clock),
      readUser: () => Promise.reject(new Error('throttled')),
    });
    const credentials = { clientId: 'c', username: 'ada', password: Buffer.from('right') };
    const answer = await chain.authenticate({ ...credentials, peer: { address: '192.0.2.1' } });
    expect(answer).toMatchObject({ refused: 0x88 });
  });
});

it.each([
  [{ table: true, file: 'users.json' }, 'has to have one of "file"'],
  [{}, 'has to have one of "file"'],
])('the configuration %j is refused', (configuration, sentence) => {
  expect(() => readIdentity({ authenticators: [{ users: configuration }] }, 'test')).toThrow(sentence);
});
