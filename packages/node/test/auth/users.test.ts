import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Identity, Refusal } from '@apus/broker';
import {
  hashPassword,
  parseUsers,
  readUsersFile,
  type Users,
  UsersAuthenticator,
  WatchedUsersFile,
} from '@apus/identity';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../../test/support/raw-client.ts';
import { TENANT } from '../../src/auth/anonymous.ts';
import { UsersAuthorizer } from '../../src/auth/users-authorizer.ts';
import type { LogEntry } from '../../src/log.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';
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
    [{ subscribe: ['a/#/b'] }, /users\[0\]\.subscribe\[0\]: .*"a\/#\/b"/],
    [{ subscribe: [1] }, /has to be a string/],
    [
      { rules: [{ effect: 'allow', action: 'all' }] },
      /users\[0\]\.rules\[0\]\.topicFilters has to be a list/,
    ],
    [{ quotas: { connections: 1 } }, /users\[0\]\.quotas: There is no quota "connections"/],
    [{ quotas: { connectionsMax: 1.5 } }, /users\[0\]\.quotas: "connectionsMax" has to be a whole number/],
    [{ clientIds: [] }, /users\[0\]\.clientIds has to be a list/],
    [{ client_ids: ['a'] }, /users\[0\] has no field "client_ids": it has name, password/],
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

  test('that does not exist is reported', () => {
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
    const authenticator = new UsersAuthenticator({
      users: usersWith({}),
      tenant: TENANT,
      clock: { now: () => 0 },
    });
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

const TERMS = { qos: 0, retain: false, shareGroup: undefined } as const;

test('a node reads its users file again, and names the changed users in its log', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'apus-users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'users.json');
  const write = (name: string) => {
    const users = [{ name, password: hash, publish: [], subscribe: [] }];
    writeFileSync(path, JSON.stringify({ users }));
  };
  write('ada');
  const usersFile = new WatchedUsersFile(path);
  const authenticator = new UsersAuthenticator({ users: usersFile, tenant: TENANT, clock: { now: () => 0 } });
  const clock = new FakeScheduler();
  const entries: LogEntry[] = [];
  const log = { logLevel: 'info', logSink: (entry: LogEntry) => entries.push(entry) } as const;
  const node = await nodeForTest({ authenticator, usersFile, clock, ...log });
  const answer = async (username: string) => {
    const { connack } = await RawClient.connect(node.url, { username, password: 'correct horse' });
    return connack.reasonCode;
  };
  expect([await answer('ada'), await answer('bob')]).toEqual([0, 0x86]);
  write('bob');
  clock.advance(2_000);
  await expect.poll(() => entries.filter(({ event }) => event === 'users-changed')).toHaveLength(1);
  expect(entries.find(({ event }) => event === 'users-changed')?.fields).toEqual({
    count: 2,
    names: ['ada', 'bob'],
  });
  expect([await answer('ada'), await answer('bob')]).toEqual([0x86, 0]);
});

test("a user's rules are read each time: a changed users file counts at once", () => {
  let users = usersWith({ publish: ['a'] });
  const authorizer = new UsersAuthorizer({ get: (name) => users.get(name) });
  expect(authorizer.mayPublish(ADA, 'c', 'a', TERMS)).toBe(true);
  users = usersWith({ publish: ['b'] });
  expect(authorizer.mayPublish(ADA, 'c', 'a', TERMS)).toBe(false);
  expect(authorizer.mayPublish(ADA, 'c', 'b', TERMS)).toBe(true);
  users = new Map();
  expect(authorizer.mayPublish(ADA, 'c', 'b', TERMS)).toBe(false);
});

test('a user may have rules instead of the lists, or before them', () => {
  const deny = { effect: 'deny', action: 'all', topicFilters: ['a/secret'] };
  const users = usersWith({ publish: ['a/#'], subscribe: undefined, rules: [deny] });
  const authorizer = new UsersAuthorizer(users);
  expect(authorizer.mayPublish(ADA, 'c', 'a/x', TERMS)).toBe(true);
  expect(authorizer.mayPublish(ADA, 'c', 'a/secret', TERMS)).toBe(false);
  expect(authorizer.maySubscribe(ADA, 'c', 'a/x', TERMS)).toBe(false);
});
