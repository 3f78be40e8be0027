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

const ask = (method: string, path: string, body?: object, tenant?: string) =>
  askOperator(world, method, path, body, tenant);
const add = async (body: object) => (await ask('POST', '/users', body)).status;

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
    expect(await add(ada)).toBe(204);
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
    expect(await ask('POST', '/users', ada)).toMatchObject({ status: 400, body: { code: 'ALREADY_EXISTS' } });
  });

  it('are listed without their hashes, of one tenant, a page at a time', async () => {
    const longest = 'n'.repeat(1_024);
    for (const name of ['a', 'b', longest, 'z']) await add({ ...ada, name });
    await ask('POST', '/users', ada, 'shop');
    const { body: first } = await ask('GET', '/users?limit=1');
    const { password: _, ...listed } = ada;
    expect(first.data).toEqual([{ ...listed, name: 'a' }]);
    const { body: second } = await ask('GET', `/users?limit=2&after=${first.meta.next}`);
    expect(second.data).toMatchObject([{ name: 'b' }, { name: longest }]);
    const { body: third } = await ask('GET', `/users?${new URLSearchParams({ after: second.meta.next })}`);
    expect(third).toMatchObject({ data: [{ name: 'z' }], meta: { hasnext: false } });
    expect((await ask('GET', '/users', undefined, 'shop')).body.data).toMatchObject([{ name: 'ada' }]);
    expect(await chainOfTable({ table: true, tenant: 'shop' })('ada', 'right')).toMatchObject({
      tenant: 'shop',
    });
  });

  it('have another password from the next CONNECT on, also in a process that remembers the former one', async () => {
    const login = chainOfTable();
    await add(ada);
    expect(await login('ada', 'right')).toMatchObject({ name: 'ada' });
    const password = { password: otherHash };
    expect(await ask('PUT', '/users/ada', password)).toMatchObject({ status: 204 });
    expect(await login('ada', 'right')).toMatchObject({ refused: 0x86 });
    expect(await login('ada', 'other')).toMatchObject({ name: 'ada', clientIds: ['%u-+'] });
    expect(await ask('PUT', '/users/eve', password)).toMatchObject({ status: 404 });
  });

  it('are gone with their sessions when they are removed; tokens of the same name stay', async () => {
    const { sessions } = world.process().cloud.stores;
    const login = chainOfTable();
    await add(ada);
    const identity = (await login('ada', 'right')) as Identity;
    const open = (clientId: string, as: Identity) =>
      sessions.open(
        openOf(clientId, { tenant: 'default', identity: as, attachment: attachmentOf(`${clientId}-1`) }),
      );
    await open('ada-phone', identity);
    await open('ada-token', { ...identity, source: 'jwt', expiresAtMs: world.time.nowMs + 600_000 });
    await open('bob', { ...identity, name: 'bob' });
    expect((await ask('DELETE', '/users/ada')).body).toEqual({ expelled: 1, is_complete: true });
    expect(await login('ada', 'right')).toMatchObject({ refused: 0x86 });
    expect(await sessions.get('default', 'ada-phone')).toBeUndefined();
    for (const stays of ['ada-token', 'bob']) expect(await sessions.get('default', stays)).toBeDefined();
    expect(await ask('DELETE', '/users/ada')).toMatchObject({ status: 404 });
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
