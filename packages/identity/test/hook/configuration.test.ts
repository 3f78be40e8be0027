import type { Authorizer } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import {
  type ChainContext,
  createAuthorizer,
  createChain,
  GuessLimiter,
  type IdentityConfiguration,
  readIdentity,
} from '../../src/index.ts';
import { FakeSender, FakeTimers, json, type LogLine, logInto, promisesRun, silence } from './fakes.ts';

const HOOK = { url: 'https://auth.example/mqtt', body: { username: '${username}', password: '${password}' } };
const ADA = { clientId: 'c', username: 'ada', password: Buffer.from('secret'), address: '192.0.2.1:5000' };

function read(hook: object, rest: object = {}): IdentityConfiguration {
  return readIdentity({ authenticators: [{ hook }], ...rest }, 'identity.json');
}

function stage(context: Partial<ChainContext> = {}) {
  const sender = new FakeSender();
  const timers = new FakeTimers();
  const lines: LogLine[] = [];
  const whole: ChainContext = {
    clock: timers,
    timers,
    log: logInto(lines),
    limiter: new GuessLimiter(timers),
    functionSender: () => sender,
    ...context,
  };
  return { sender, timers, lines, context: whole };
}

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:may-connect';

describe('a hook in the configuration', () => {
  test('is a member of the chain like every authenticator', async () => {
    const { sender, context } = stage();
    const chain = createChain(read({ functionArn: ARN, tenant: 'acme', clientIds: ['+'] }), context);
    expect(await chain.ask(ADA)).toEqual({
      tenant: 'acme',
      name: 'ada',
      rules: [],
      clientIds: ['+'],
      source: 'hook',
    });
    sender.behaviour = () => json({ result: 'ignore' });
    expect(await chain.ask(ADA)).toMatchObject({ refused: 0x86 });
  });

  test('gives its identities quotas, and an answer gives others [SEC-QUOTA-6]', async () => {
    const { sender, context } = stage();
    const chain = createChain(read({ functionArn: ARN, quotas: { connectionsMax: 2 } }), context);
    expect(await chain.ask(ADA)).toMatchObject({ quotas: { connectionsMax: 2 } });
    sender.behaviour = () => json({ result: 'allow', quotas: { publishesPerSecondMax: 5 } });
    expect(await chain.ask(ADA)).toMatchObject({ quotas: { publishesPerSecondMax: 5 } });
    sender.behaviour = () => json({ result: 'allow', quotas: { publishes: 5 } });
    expect(await chain.ask(ADA)).toMatchObject({ refused: 0x86 });
    expect(() => read({ functionArn: ARN, quotas: { connectionsMax: 'two' } })).toThrow(
      'hook.quotas cannot be kept: "connectionsMax" has to be a whole number',
    );
  });

  test('is asked about a client without a password, as in EMQX, and not about a token', async () => {
    const { sender, context } = stage();
    const chain = createChain(read({ functionArn: ARN }), context);
    expect(await chain.ask({ clientId: 'c', address: '192.0.2.1' })).toMatchObject({ name: '' });
    expect(await chain.verify('a.b.c', '192.0.2.1')).toMatchObject({ refused: 0x87 });
    expect(sender.requests).toHaveLength(1);
    sender.behaviour = () => json({ result: 'ignore' });
    expect(await chain.ask({ clientId: 'c', address: '192.0.2.1' })).toMatchObject({ refused: 0x87 });
  });

  test('grants the configured default if the answer does not say', async () => {
    const { sender, context } = stage();
    const defaultRules = { publish: ['%u/#'], subscribe: ['news'] };
    const chain = createChain(read({ functionArn: ARN, defaultRules }), context);
    expect(await chain.ask(ADA)).toMatchObject({
      rules: [
        { effect: 'allow', action: 'publish', topicFilters: ['%u/#'] },
        { effect: 'allow', action: 'subscribe', topicFilters: ['news'] },
      ],
    });
    sender.behaviour = () => json({ result: 'allow', acl: [] });
    expect(await chain.ask(ADA)).toMatchObject({ rules: [] });
  });

  test('sends a function all fields that it may have', async () => {
    const { sender, context } = stage();
    await createChain(read({ functionArn: ARN }), context).ask(ADA);
    expect(sender.bodies).toEqual([
      {
        clientid: 'c',
        username: 'ada',
        password: 'secret',
        peerhost: '192.0.2.1',
        cert_subject: '',
        cert_common_name: '',
      },
    ]);
  });

  test('has five seconds, or the configured time, and never more than the process allows', async () => {
    for (const [timeoutSeconds, hookTimeoutMsMax, ms] of [
      [undefined, undefined, 5_000],
      [1, undefined, 1_000],
      [10, 2_000, 2_000],
    ] as const) {
      const { sender, timers, context } = stage({ hookTimeoutMsMax });
      sender.behaviour = silence;
      const hook = { functionArn: ARN, ...(timeoutSeconds !== undefined && { timeoutSeconds }) };
      const asked = createChain(read(hook), context).ask(ADA);
      await promisesRun();
      timers.pass(ms - 1);
      expect(timers.pending).toBe(1);
      timers.pass(1);
      expect(await asked).toMatchObject({ refused: 0x88 });
    }
  });

  test('logs that passwords cross a network unencrypted', () => {
    const log = (url: string) => {
      const { lines, context } = stage();
      createChain(read({ ...HOOK, url }), context);
      return lines.map(({ event }) => event);
    };
    expect(log('http://auth.example/mqtt')).toEqual(['hook-not-encrypted']);
    expect(log('https://auth.example/mqtt')).toEqual([]);
    expect(log('http://127.0.0.1:8080/mqtt')).toEqual([]);
  });

  test.each<[string, object, RegExp]>([
    ['neither url nor functionArn', { body: {} }, /hook has to have either url or functionArn/],
    ['both', { ...HOOK, functionArn: ARN }, /either url or functionArn/],
    ['another method', { ...HOOK, method: 'put' }, /method has to be one of "get", "post"/],
    ['a method for a function', { functionArn: ARN, method: 'get' }, /method is for a url/],
    ['a list as body', { ...HOOK, body: ['a'] }, /body has to be an object/],
    ['a list in its body', { ...HOOK, body: { a: [1] } }, /body has to be an object/],
    ['a number as header', { ...HOOK, headers: { a: 1 } }, /headers has to be an object of texts/],
    [
      'an hour of time',
      { ...HOOK, timeoutSeconds: 3_600 },
      /timeoutSeconds has to be a number from 0\.1 to 30/,
    ],
    ['a placeholder of authorization', { ...HOOK, body: { t: '${topic}' } }, /no placeholder \$\{topic\}/],
    ['a misspelt field', { ...HOOK, timeout: 1 }, /no field "timeout"/],
  ])('cannot have %s', (_, hook, message) => {
    expect(() => read(hook)).toThrow(message);
  });

  test('cannot name a function at a node', () => {
    const { context } = stage({ functionSender: undefined });
    expect(() => createChain(read({ functionArn: ARN }), context)).toThrow('deployments in AWS');
  });
});

describe('a hook for authorization in the configuration', () => {
  const authorizerOf = (authorization: object, context: ChainContext): Authorizer =>
    createAuthorizer(read(HOOK, { authorization }).authorization, context);

  test('decides if the rules of an identity do not, for the configured time', async () => {
    const { sender, timers, context } = stage();
    const authorizer = authorizerOf({ hook: { functionArn: ARN, cacheSeconds: 5 } }, context);
    const ada = { tenant: 'default', name: 'ada', rules: [] };
    const ask = () => authorizer.mayPublish(ada, 'c', 'a', { qos: 0, retain: false });
    expect(await ask()).toBe(true);
    timers.pass(4_999);
    expect(ask()).toBe(true);
    sender.behaviour = () => json({ result: 'deny' });
    timers.pass(1);
    expect(await ask()).toBe(false);
  });

  test('is not there by default: access beyond the rules is denied', () => {
    const { sender, context } = stage();
    const authorizer = createAuthorizer(read(HOOK).authorization, context);
    const ada = { tenant: 'default', name: 'ada', rules: [] };
    expect(authorizer.mayPublish(ada, 'c', 'a', { qos: 0, retain: false })).toBe(false);
    expect(sender.requests).toHaveLength(0);
  });

  test('has its own placeholders, and no password', () => {
    const authorization = (body: object) => read(HOOK, { authorization: { hook: { ...HOOK, body } } });
    expect(authorization({ t: '${topic}' }).authorization).toBeDefined();
    expect(() => authorization({ p: '${password}' })).toThrow('no placeholder ${password}');
  });
});
