import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RulesAuthorizer } from '@apus/broker';
import { hashPassword, readIdentity, UsersAuthenticator, WatchedUsersFile } from '@apus/identity';
import { SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import { EventClient } from '../../../../test/support/event-client.ts';
import { call } from '../support/call-api.ts';
import { nodeForTest } from '../support/nodes.ts';

const SECRET = 'a secret of at least thirty-two bytes';
const KEY = 'a-key-of-more-than-22-characters';
const KEYED = { authorization: `Bearer ${KEY}` };

const tokenWith = (claims: object): Promise<string> =>
  new SignJWT({ sub: 'ann', jti: 't-1', publish: ['#'], subscribe: ['news/#'], ...claims })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(new TextEncoder().encode(SECRET));

const nodeWithTokens = () =>
  nodeForTest({
    apiKey: KEY,
    identity: readIdentity({ authenticators: [{ jwt: { secret: SECRET } }] }, 'identity'),
  });

const publish = (httpUrl: string, topic: string, tenant = 'default') =>
  call(
    httpUrl,
    '/publish',
    'POST',
    { ...KEYED, 'content-type': 'application/json', 'apus-tenant': tenant },
    { topic, payload: topic },
  );

test('a token opens a stream, in the query or as Bearer, for what its rules allow [SEC-WAY-3]', async () => {
  const { httpUrl } = await nodeWithTokens();
  const token = await tokenWith({});
  const inQuery = await EventClient.open(httpUrl, `topic=news/a&token=${token}`);
  const inHeader = await EventClient.open(httpUrl, 'topic=news/a', { authorization: `Bearer ${token}` });
  const beside = await EventClient.open(httpUrl, `topic=news/a&token=${token}`, {
    // A browser adds what its user has typed for a proxy.
    authorization: `Basic ${Buffer.from('user:of a proxy').toString('base64')}`,
  });
  for (const events of [inQuery, inHeader, beside]) await events.next();
  await publish(httpUrl, 'news/a', 'another');
  await publish(httpUrl, 'news/a');
  for (const events of [inQuery, inHeader]) expect(await events.message()).toMatchObject({ topic: 'news/a' });
  const forbidden = await EventClient.open(httpUrl, `topic=news/a&topic=secret&token=${token}`);
  expect(forbidden.status).toBe(403);
  expect(await forbidden.body()).toEqual({
    code: 'FORBIDDEN',
    message: 'topic="secret" is refused: this client may not subscribe to it.',
  });
});

test.each([
  ['no credential', {}],
  ['a wrong token', { authorization: 'Bearer wrong' }],
  ['the key of the API', KEYED],
])('%s opens none [SEC-WAY-3]', async (_, headers) => {
  const { httpUrl } = await nodeWithTokens();
  const refused = await EventClient.open(httpUrl, 'topic=news/a', headers);
  expect(refused.status).toBe(401);
  expect(refused.header('www-authenticate')).toBe('Bearer');
  expect(await refused.body()).toMatchObject({ code: 'BAD_TOKEN' });
});

test('a revoked token ends its stream, and opens none', async () => {
  const { httpUrl } = await nodeWithTokens();
  const query = `topic=news/a&token=${await tokenWith({})}`;
  const events = await EventClient.open(httpUrl, query);
  await events.next();
  await call(httpUrl, '/banned', 'POST', KEYED, { as: 'token', who: 't-1' });
  expect((await events.rest()).at(-1)).toMatchObject({ type: 'end', data: { reason_code: 0x87 } });
  const again = await EventClient.open(httpUrl, query);
  expect(again.status).toBe(401);
});

test('a user opens a stream with a password, and rules that change end what they do not allow any more', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'apus-events-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'users.json');
  const password = await hashPassword(Buffer.from('se:cret'));
  const allow = (...subscribe: string[]) =>
    writeFileSync(path, JSON.stringify({ users: [{ name: 'ann', password, publish: [], subscribe }] }));
  allow('a', 'b');
  const users = new WatchedUsersFile(path);
  const node = await nodeForTest({
    ...{ apiKey: KEY, usersFile: users },
    authenticator: new UsersAuthenticator({ users, tenant: 'default', clock: Date }),
    authorizer: new RulesAuthorizer(({ name }) => users.get(name)?.rules),
  });
  const login = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`ann:${secret}`).toString('base64')}`,
  });
  const events = await EventClient.open(node.httpUrl, 'topic=a&topic=b', login('se:cret'));
  await events.next();
  expect((await EventClient.open(node.httpUrl, 'topic=a', login('wrong'))).status).toBe(401);
  expect((await EventClient.open(node.httpUrl, 'topic=a')).status).toBe(401);
  allow('b');
  await node.reread();
  await publish(node.httpUrl, 'a');
  await publish(node.httpUrl, 'b');
  expect(await events.message()).toMatchObject({ topic: 'b' });
});
