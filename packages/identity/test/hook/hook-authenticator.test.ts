import { describe, expect, test } from 'vitest';
import {
  AUTHENTICATION_PLACEHOLDERS,
  DEFAULT_HOOK_LIMITS,
  GuessLimiter,
  type HookAnswer,
  HookAuthenticator,
  HookClient,
  RequestTemplate,
} from '../../src/index.ts';
import { FakeSender, FakeTimers, json, type LogLine, logInto } from './fakes.ts';

const CREDENTIALS = {
  clientId: 'phone',
  username: 'ada',
  password: Buffer.from('pässword'),
  address: '[2001:db8::1]:5000',
};

function stage(answer: HookAnswer = json({ result: 'allow' })) {
  const sender = new FakeSender(() => answer);
  const timers = new FakeTimers();
  const lines: LogLine[] = [];
  const log = logInto(lines);
  const request = new RequestTemplate(
    {
      method: 'post',
      url: 'http://127.0.0.1:8080/auth',
      body: {
        clientid: '${clientid}',
        username: '${username}',
        password: '${password}',
        peerhost: '${peerhost}',
        subject: '${cert_subject}',
      },
    },
    AUTHENTICATION_PLACEHOLDERS,
    'hook',
  );
  const authenticator = new HookAuthenticator({
    source: 'hook',
    client: new HookClient({ name: 'hook', sender, limits: DEFAULT_HOOK_LIMITS, timers, log }),
    request,
    defaults: { tenant: 'default' },
    limiter: new GuessLimiter(timers),
    clock: timers,
    log,
  });
  return { sender, lines, authenticator, authenticate: () => authenticator.authenticate(CREDENTIALS) };
}

describe('a hook that decides who may connect', () => {
  test('gets the client identifier, the user name, the password and the address', async () => {
    const { sender, authenticate } = stage();
    await authenticate();
    expect(sender.bodies).toEqual([
      { clientid: 'phone', username: 'ada', password: 'pässword', peerhost: '2001:db8::1', subject: '' },
    ]);
  });

  test.each<[string, HookAnswer]>([
    ['200 with result allow', json({ result: 'allow' })],
    ['204', { status: 204, contentType: '', body: '' }],
    [
      'a form that says allow',
      { status: 200, contentType: 'application/x-www-form-urlencoded', body: 'result=allow' },
    ],
  ])('lets a client in with %s, and grants it nothing by that', async (_, answer) => {
    expect(await stage(answer).authenticate()).toEqual({
      tenant: 'default',
      name: 'ada',
      rules: [],
      source: 'hook',
    });
  });

  test('refuses a client with 0x87 by result deny', async () => {
    expect(await stage(json({ result: 'deny' })).authenticate()).toMatchObject({ refused: 0x87 });
  });

  test.each<[string, HookAnswer]>([
    ['result ignore', json({ result: 'ignore' })],
    ['no result', json({ is_superuser: true })],
    ['an unknown result', json({ result: 'yes' })],
    ['no JSON', { status: 200, contentType: 'application/json', body: 'allow' }],
    ['a list', json(['allow'])],
    ['another content type', { status: 200, contentType: 'text/plain', body: '{"result": "allow"}' }],
    ['201', json({ result: 'allow' }, 201)],
    ['a redirect', json({ result: 'allow' }, 302)],
    ['401', json({ result: 'allow' }, 401)],
    ['500', json({ result: 'allow' }, 500)],
  ])('leaves a client to the next authenticator with %s', async (_, answer) => {
    expect(await stage(answer).authenticate()).toHaveProperty('notMine');
  });

  test('sets an expiry, in seconds since the epoch', async () => {
    const expireAt = Date.parse('2026-01-01T01:00:00Z') / 1000;
    const { authenticate } = stage(json({ result: 'allow', expire_at: expireAt }));
    expect(await authenticate()).toMatchObject({ expiresAtMs: expireAt * 1000 });
  });

  test.each([
    ['in the past', Date.parse('2025-12-31T23:59:59Z') / 1000],
    ['in milliseconds', Date.parse('2026-01-01T01:00:00Z')],
    ['as text', '2026-01-01'],
  ])('lets no client in with an end %s, and the log says why', async (_, expireAt) => {
    const { authenticate, lines } = stage(json({ result: 'allow', expire_at: expireAt }));
    expect(await authenticate()).toMatchObject({ refused: 0x86 });
    expect(lines).toMatchObject([{ event: 'hook-answer-wrong' }]);
  });

  test('sets the rights, by an ACL', async () => {
    const acl = [
      { permission: 'allow', action: 'subscribe', topic: 'eq t/1/#', qos: [1] },
      { permission: 'deny', action: 'all', topic: 't/3' },
    ];
    expect(await stage(json({ result: 'allow', acl })).authenticate()).toMatchObject({
      rules: [
        { effect: 'allow', action: 'subscribe', topicFilters: ['eq t/1/#'], qos: [1] },
        { effect: 'deny', action: 'all', topicFilters: ['t/3'] },
      ],
    });
    const wrong = stage(json({ result: 'allow', acl: [{ permission: 'allow', action: 'all' }] }));
    expect(await wrong.authenticate()).toMatchObject({ refused: 0x86 });
    expect(wrong.lines).toMatchObject([{ fields: { reason: expect.stringContaining('acl[0]') } }]);
  });

  test('makes a superuser, who may do everything', async () => {
    const { authenticate } = stage(json({ result: 'allow', is_superuser: true, acl: [] }));
    expect(await authenticate()).toMatchObject({
      rules: [
        { effect: 'allow', action: 'all', topicFilters: ['#', '$SYS/#', '$presence/#', '$occupancy/#'] },
      ],
    });
  });

  test('names the tenant in client_attrs', async () => {
    const named = (tenant: unknown) =>
      stage(json({ result: 'allow', client_attrs: { tenant } })).authenticate();
    expect(await named('acme')).toMatchObject({ tenant: 'acme', name: 'ada' });
    expect(await named('a/b')).toMatchObject({ refused: 0x86 });
    expect(await named(1)).toMatchObject({ refused: 0x86 });
  });

  test('that does not answer admits no client: 0x88 [SEC-HOOK-1]', async () => {
    const { sender, authenticate } = stage();
    sender.behaviour = () => {
      throw new Error('connect ECONNREFUSED');
    };
    expect(await authenticate()).toMatchObject({ refused: 0x88 });
  });

  test('is not asked about a password that is no text', async () => {
    const { sender, authenticator } = stage();
    const password = Uint8Array.of(0xff);
    expect(await authenticator.authenticate({ ...CREDENTIALS, password })).toHaveProperty('notMine');
    expect(sender.requests).toHaveLength(0);
  });

  test('is asked less often by a client that guesses', async () => {
    const { sender, authenticate } = stage(json({ result: 'deny' }));
    for (let guess = 0; guess < 20; guess++) await authenticate();
    expect(sender.requests.length).toBeLessThan(10);
    expect(await authenticate()).toMatchObject({ refused: 0x9f });
  });
});
