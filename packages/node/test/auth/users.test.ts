import type { Identity, Refusal } from '@apus/broker';
import { beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { hashPassword } from '../../src/auth/password-hash.ts';
import { UsersAuthenticator } from '../../src/auth/users-authenticator.ts';
import { UsersAuthorizer } from '../../src/auth/users-authorizer.ts';
import { parseUsers, readUsersFile, type Users } from '../../src/auth/users-file.ts';
import { nodeForTest } from '../support/nodes.ts';

const ADA: Identity = { tenant: 'default', name: 'ada' };

let hash: string;
beforeAll(async () => {
  hash = await hashPassword(Buffer.from('correct horse'));
});

function usersWith(fields: Record<string, unknown>): Users {
  const user = { name: 'ada', password: hash, publish: ['#'], subscribe: ['#'], ...fields };
  return parseUsers(JSON.stringify({ users: [user] }), 'users.json');
}

describe('a users file', () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ name: '' }, /users\[0\]\.name/],
    [{ password: 'correct horse' }, /users\[0\]\.password.*apus passwd/],
    [{ password: 'scrypt:16385:8:1:c2FsdHNhbHQ:a2V5a2V5a2V5a2V5' }, /users\[0\]\.password/],
    [{ password: 'scrypt:67108864:8:1:c2FsdHNhbHQ:a2V5a2V5a2V5a2V5' }, /users\[0\]\.password/],
    [{ publish: undefined }, /users\[0\]\.publish.*list of topic filters/],
    [{ subscribe: ['a/#/b'] }, /users\[0\]\.subscribe: "a\/#\/b"/],
    [{ subscribe: [1] }, /has to be a string/],
  ])('with %j is refused with a sentence', (fields, sentence) => {
    expect(() => usersWith(fields)).toThrow(sentence);
  });

  test.each<[string, RegExp]>([
    ['{', /is not JSON/],
    ['[]', /should look like/],
    ['null', /should look like/],
  ])('of %s is refused with a sentence', (text, sentence) => {
    expect(() => parseUsers(text, 'users.json')).toThrow(sentence);
  });

  test('that is not there is told', () => {
    expect(() => readUsersFile('/no/such/users.json')).toThrow(/cannot be read.*no such file/);
  });

  test('names each user once', () => {
    const user = { name: 'ada', password: hash, publish: [], subscribe: [] };
    expect(() => parseUsers(JSON.stringify({ users: [user, user] }), 'users.json')).toThrow(
      /two users named "ada"/,
    );
  });
});

describe('a user', () => {
  const answer = async (username?: string, password?: string): Promise<Identity | Refusal> => {
    const authenticator = new UsersAuthenticator(usersWith({}));
    const credentials = {
      clientId: 'c',
      username,
      password: password === undefined ? undefined : Buffer.from(password),
      peer: { address: '' },
    };
    await authenticator.authenticate(credentials);
    // The second time the password is remembered, and the answer has to be the same.
    return authenticator.authenticate(credentials);
  };

  test('comes in with the right password', async () => {
    expect(await answer('ada', 'correct horse')).toEqual(ADA);
  });

  test.each([
    ['ada', 'wrong'],
    ['ada', ''],
    ['bob', 'correct horse'],
    ['', ''],
  ])('"%s" with the password "%s" is refused with 0x86', async (username, password) => {
    expect(await answer(username, password)).toMatchObject({ refused: 0x86 });
  });

  test('without user name or password is refused with 0x87', async () => {
    expect(await answer()).toMatchObject({ refused: 0x87 });
    expect(await answer('ada')).toMatchObject({ refused: 0x87 });
  });
});

describe('what a user may do', () => {
  test('is what the filters cover, `a/b` not `a/b/c`', () => {
    const authorizer = new UsersAuthorizer(usersWith({ publish: ['a/b', 'c/+'], subscribe: ['news/#'] }));
    expect(authorizer.mayPublish(ADA, 'c', 'a/b')).toBe(true);
    expect(authorizer.mayPublish(ADA, 'c', 'a/b/c')).toBe(false);
    expect(authorizer.mayPublish(ADA, 'c', 'c/1')).toBe(true);
    expect(authorizer.maySubscribe(ADA, 'c', 'news/+/today')).toBe(true);
    expect(authorizer.maySubscribe(ADA, 'c', '#')).toBe(false);
    expect(authorizer.mayPublish({ tenant: 'default', name: 'bob' }, 'c', 'a/b')).toBe(false);
  });

  test('may depend on the client identifier and the user name', () => {
    const authorizer = new UsersAuthorizer(usersWith({ publish: ['u/%u/c/%c'], subscribe: ['c/%c/#'] }));
    expect(authorizer.mayPublish(ADA, 'tablet', 'u/ada/c/tablet')).toBe(true);
    expect(authorizer.mayPublish(ADA, 'tablet', 'u/ada/c/phone')).toBe(false);
    expect(authorizer.maySubscribe(ADA, 'tablet', 'c/tablet/#')).toBe(true);
  });

  test.each(['+', '#', 'tablet/#', 'a/b', ''])(
    'is not widened by a client that calls itself "%s"',
    (clientId) => {
      const authorizer = new UsersAuthorizer(usersWith({ publish: [], subscribe: ['c/%c/data', 'c/%c/#'] }));
      for (const filter of ['c/+/data', 'c/#', 'c/+/#', 'c/tablet/data', 'c//data', 'c/tablet/#/data']) {
        expect(authorizer.maySubscribe(ADA, clientId, filter)).toBe(false);
      }
    },
  );
});

test('a node with users lets them in and keeps them to their topics', async () => {
  const users = usersWith({ publish: ['mine/#'], subscribe: ['mine/#'] });
  const authenticator = new UsersAuthenticator(users);
  const node = await nodeForTest({ authenticator, authorizer: new UsersAuthorizer(users) });
  const { connack: refused } = await RawClient.connect(node.url, { username: 'ada', password: 'wrong' });
  expect(refused.reasonCode).toBe(0x86);
  const { client } = await RawClient.connect(node.url, { username: 'ada', password: 'correct horse' });
  client.send({ cmd: 'publish', topic: 'mine/1', payload: 'x', qos: 1, messageId: 1 });
  expect((await client.expect('puback')).reasonCode).toBe(0x10);
  client.send({ cmd: 'publish', topic: 'yours/1', payload: 'x', qos: 1, messageId: 2 });
  expect((await client.expect('puback')).reasonCode).toBe(0x87);
});
