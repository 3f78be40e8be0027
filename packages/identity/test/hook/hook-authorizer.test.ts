import type { Identity } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import {
  AUTHORIZATION_PLACEHOLDERS,
  DEFAULT_HOOK_LIMITS,
  type HookAnswer,
  HookAuthorizer,
  HookClient,
  type HookLimits,
  RequestTemplate,
} from '../../src/index.ts';
import { FakeSender, FakeTimers, json, logInto, promisesRun } from './fakes.ts';

const ADA = { tenant: 'default', name: 'ada' };
const TERMS = { qos: 1, retain: false } as const;

/** Denies by an empty list, allows by any other, and returns undefined without rules. */
const ownDecision = ({ rules }: Identity) => (rules === undefined ? undefined : rules.length > 0);

function stage(answer: HookAnswer = json({ result: 'allow' }), limits: Partial<HookLimits> = {}) {
  const sender = new FakeSender(() => answer);
  const timers = new FakeTimers();
  const request = new RequestTemplate(
    {
      method: 'post',
      url: 'http://127.0.0.1:8080/authz',
      body: {
        clientid: '${clientid}',
        username: '${username}',
        action: '${action}',
        topic: '${topic}',
        qos: '${qos}',
        retain: '${retain}',
      },
    },
    AUTHORIZATION_PLACEHOLDERS,
    'hook',
  );
  const authorizer = new HookAuthorizer({
    client: new HookClient({
      ...{ name: 'hook', sender, timers, log: logInto([]) },
      limits: { ...DEFAULT_HOOK_LIMITS, ...limits },
    }),
    request,
    ownRules: { decidePublish: ownDecision, decideSubscribe: ownDecision },
    clock: timers,
  });
  return { sender, timers, authorizer };
}

describe('a hook that decides what a client may do', () => {
  test('gets the action, the topic and its options, as text', async () => {
    const { sender, authorizer } = stage();
    await authorizer.mayPublish(ADA, 'phone', 'a/b', { qos: 1, retain: true });
    await authorizer.maySubscribe(ADA, 'phone', 'a/#', { qos: 2, shareGroup: undefined });
    const client = { clientid: 'phone', username: 'ada' };
    expect(sender.bodies).toEqual([
      { ...client, action: 'publish', topic: 'a/b', qos: '1', retain: 'true' },
      { ...client, action: 'subscribe', topic: 'a/#', qos: '2', retain: 'false' },
    ]);
  });

  test.each<[string, HookAnswer, boolean]>([
    ['200 with result allow', json({ result: 'allow' }), true],
    ['204', { status: 204, contentType: '', body: '' }, true],
    ['result deny', json({ result: 'deny' }), false],
    ['result ignore', json({ result: 'ignore' }), false],
    ['no result', json({}), false],
    ['another content type', { status: 200, contentType: 'text/html', body: '{"result":"allow"}' }, false],
    ['403', json({ result: 'allow' }, 403), false],
    ['500', json({ result: 'allow' }, 500), false],
  ])('%s', async (_, answer, isAllowed) => {
    expect(await stage(answer).authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(isAllowed);
  });

  test('denies while it does not answer, and is asked again [SEC-HOOK-1]', async () => {
    const { sender, authorizer } = stage();
    sender.behaviour = () => {
      throw new Error('connect ECONNREFUSED');
    };
    expect(await authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(false);
    sender.behaviour = () => json({ result: 'allow' });
    expect(await authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(true);
  });

  test('is not asked if the rules of the identity decide', () => {
    const { sender, authorizer } = stage(json({ result: 'deny' }));
    const rules = [{ effect: 'allow', action: 'all', topicFilters: ['a'] }] as const;
    expect(authorizer.mayPublish({ ...ADA, rules }, 'phone', 'a', TERMS)).toBe(true);
    expect(authorizer.mayPublish({ ...ADA, rules: [] }, 'phone', 'a', TERMS)).toBe(false);
    expect(sender.requests).toHaveLength(0);
  });

  test('is asked once a minute by a busy publisher, whose next messages wait for no promise', async () => {
    const { sender, timers, authorizer } = stage();
    expect(await authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(true);
    for (let message = 0; message < 1_000; message++)
      expect(authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(true);
    timers.pass(59_999);
    expect(authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(true);
    timers.pass(1);
    expect(await authorizer.mayPublish(ADA, 'phone', 'a', TERMS)).toBe(true);
    expect(sender.requests).toHaveLength(2);
  });

  test.each([
    ['another name', { tenant: 'default', name: 'bob' }, 'phone', 'a', TERMS],
    ['another tenant', { tenant: 'acme', name: 'ada' }, 'phone', 'a', TERMS],
    ['another client identifier', ADA, 'tablet', 'a', TERMS],
    ['another topic', ADA, 'phone', 'b', TERMS],
    ['another QoS', ADA, 'phone', 'a', { qos: 0, retain: false }],
    ['a retained message', ADA, 'phone', 'a', { qos: 1, retain: true }],
  ] as const)('is asked anew for %s', async (_, identity, clientId, topic, terms) => {
    const { sender, authorizer } = stage();
    await authorizer.mayPublish(ADA, 'phone', 'a', TERMS);
    sender.behaviour = () => json({ result: 'deny' });
    expect(await authorizer.mayPublish(identity, clientId, topic, terms)).toBe(false);
  });

  test('is asked anew for a subscription after a publish to the same topic', async () => {
    const { sender, authorizer } = stage();
    await authorizer.mayPublish(ADA, 'phone', 'a', TERMS);
    sender.behaviour = () => json({ result: 'deny' });
    expect(await authorizer.maySubscribe(ADA, 'phone', 'a', { qos: 1, shareGroup: undefined })).toBe(false);
  });

  test('is not asked about a message that leaves a queue for a filter which it has allowed', async () => {
    const { sender, timers, authorizer } = stage();
    const delivery = { qos: undefined, shareGroup: undefined };
    await authorizer.maySubscribe(ADA, 'phone', 'a/#', { qos: 1, shareGroup: undefined });
    sender.behaviour = () => json({ result: 'deny' });
    expect(authorizer.maySubscribe(ADA, 'phone', 'a/b', delivery)).toBe(true);
    expect(await authorizer.maySubscribe(ADA, 'phone', 'b', delivery)).toBe(false);
    expect(await authorizer.maySubscribe(ADA, 'phone', 'a/b', { qos: 1, shareGroup: undefined })).toBe(false);
    timers.pass(60_000);
    expect(await authorizer.maySubscribe(ADA, 'phone', 'a/b', delivery)).toBe(false);
  });

  test('is asked once by many connections that ask the same at once', async () => {
    const { sender, authorizer } = stage();
    const asked = Array.from({ length: 10 }, () => authorizer.mayPublish(ADA, 'phone', 'a', TERMS));
    expect(await Promise.all(asked)).toEqual(asked.map(() => true));
    expect(sender.requests).toHaveLength(1);
  });

  test('drops the oldest topics of a client that has more than 32, and of no other client', async () => {
    const { sender, authorizer } = stage();
    await authorizer.mayPublish(ADA, 'tablet', 'mine', TERMS);
    for (let topic = 0; topic <= 32; topic++) await authorizer.mayPublish(ADA, 'phone', `t/${topic}`, TERMS);
    sender.requests.length = 0;
    expect(authorizer.mayPublish(ADA, 'tablet', 'mine', TERMS)).toBe(true);
    expect(authorizer.mayPublish(ADA, 'phone', 't/32', TERMS)).toBe(true);
    await authorizer.mayPublish(ADA, 'phone', 't/0', TERMS);
    expect(sender.requests).toHaveLength(1);
  });
});

test('an identity with too many questions is told 0x97, and others are answered [SEC-HOOK-5]', async () => {
  const { sender, authorizer } = stage(json({ result: 'allow' }), {
    concurrentRequestsPerHolderMax: 2,
    waitingRequestsPerHolderMax: 3,
  });
  const answers: ((answer: HookAnswer) => void)[] = [];
  sender.behaviour = ({ body = '' }) =>
    body.includes('mallory')
      ? new Promise((resolve) => void answers.push(resolve))
      : json({ result: 'allow' });
  const mallory = { tenant: 'default', name: 'mallory' };
  const publish = (identity: Identity, topic: string) =>
    authorizer.mayPublish(identity, `${identity.name}-${topic}`, topic, TERMS);
  const asked = ['1', '2', '3', '4', '5'].map((topic) => publish(mallory, topic));
  await promisesRun();
  await expect(publish(mallory, '6')).rejects.toMatchObject({ reasonCode: 0x97 });
  const subscribing = authorizer.maySubscribe(mallory, 'c', '7', { qos: 1, shareGroup: undefined });
  await expect(subscribing).rejects.toMatchObject({ reasonCode: 0x97 });
  // A message that is to be delivered is left out, and its client stays connected.
  expect(await authorizer.maySubscribe(mallory, 'c', '8', { qos: undefined, shareGroup: undefined })).toBe(
    false,
  );
  expect(await publish(ADA, '9')).toBe(true);
  for (let each = 0; each < asked.length; each++) {
    answers[each]?.(json({ result: 'allow' }));
    await promisesRun();
  }
  expect(await Promise.all(asked)).toEqual(asked.map(() => true));
});
