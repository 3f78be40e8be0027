import { type Credentials, rulesAuthorizer } from '@apus/broker';
import {
  AUTHENTICATION_PLACEHOLDERS,
  AUTHORIZATION_PLACEHOLDERS,
  DEFAULT_HOOK_LIMITS,
  fetchSender,
  GuessLimiter,
  HookAuthenticator,
  HookAuthorizer,
  HookClient,
  RequestTemplate,
  systemTimers,
} from '@apus/identity';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { answer, startHookServer } from '../support/hook-server.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectMessage, publish, subscribe, usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

ownDoor(`a hook (${OPTIONS_NEED_OUR_DOOR})`, async () => {
  const hook = await startHookServer();
  const peers = usePeers(portsOf(hook.url));
  const connect = async (fields: Record<string, unknown> = {}) => {
    const { client, connack } = await peers.connect({ username: 'ada', password: 'secret', ...fields });
    return { client, code: connack.reasonCode ?? connack.returnCode };
  };

  beforeEach(() => {
    hook.calls.length = 0;
    hook.respond = ({ path }, response) =>
      answer(response, { result: path === '/auth' ? 'allow' : 'ignore' });
  });
  afterAll(() => hook.stop());

  it('is asked at CONNECT with the fields that EMQX sends, and lets the client in', async () => {
    const clientId = unique('hook');
    expect((await connect({ clientId })).code).toBe(0);
    expect(hook.calls).toEqual([
      {
        path: '/auth',
        body: { clientid: clientId, username: 'ada', password: 'secret', peerhost: '127.0.0.1' },
      },
    ]);
  });

  it('that denies makes CONNACK 0x87, in MQTT 3.1.1 5', async () => {
    hook.respond = (_, response) => answer(response, { result: 'deny' });
    expect((await connect({ username: unique('name') })).code).toBe(0x87);
    expect((await connect({ username: unique('name'), protocolVersion: 4 })).code).toBe(5);
  });

  it('is asked once for the publishes to a topic, and denies by an empty answer', async () => {
    const topic = unique('allowed');
    hook.respond = ({ path, body }, response) =>
      answer(response, { result: path === '/auth' || body.topic === topic ? 'allow' : 'ignore' });
    const { client } = await connect();
    const { client: reader } = await connect();
    expect(await subscribe(reader, topic)).toBe(0);
    expect(await subscribe(reader, '#')).toBe(0x87);
    for (const payload of ['1', '2', '3']) {
      await publish(client, { topic, payload, qos: 1 });
      await expectMessage(reader, payload);
    }
    const asked = hook.calls.filter(({ body }) => body.action === 'publish');
    expect(asked.map(({ body }) => [body.topic, body.qos, body.retain])).toEqual([[topic, '1', 'false']]);

    client.send({ cmd: 'publish', topic: unique('other'), payload: '', qos: 1, messageId: 2 });
    expect((await client.expect('puback')).reasonCode).toBe(0x87);
  });

  it('grants rights by an ACL in its answer, and is not asked again', async () => {
    const acl = [{ permission: 'allow', action: 'subscribe', topic: 'mine/${username}/#' }];
    hook.respond = (_, response) => answer(response, { result: 'allow', acl });
    const username = unique('name');
    const { client } = await connect({ username });
    expect(await subscribe(client, `mine/${username}/#`)).toBe(0);
    expect(hook.calls.map(({ path }) => path)).toEqual(['/auth']);
  });

  it('that fails lets no client in: 0x88, in MQTT 3.1.1 3', async () => {
    hook.respond = (_, response) => void response.destroy();
    expect((await connect()).code).toBe(0x88);
    expect((await connect({ protocolVersion: 4 })).code).toBe(3);
  });

  it('that fails denies the requests of a connected client', async () => {
    const { client } = await connect();
    hook.respond = (_, response) => void response.destroy();
    expect(await subscribe(client, unique('topic'))).toBe(0x87);
  });
});

function portsOf(url: string) {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const client = new HookClient({
    name: 'hook',
    sender: fetchSender(DEFAULT_HOOK_LIMITS.answerBytesMax),
    limits: DEFAULT_HOOK_LIMITS,
    timers: systemTimers,
    log,
  });
  const request = (path: string, names: readonly string[], known: readonly string[]) =>
    new RequestTemplate(
      {
        method: 'post',
        url: `${url}${path}`,
        body: Object.fromEntries(names.map((name) => [name, `\${${name}}`])),
      },
      known,
      'hook',
    );
  const authenticator = new HookAuthenticator({
    source: 'hook',
    client,
    request: request('/auth', ['clientid', 'username', 'password', 'peerhost'], AUTHENTICATION_PLACEHOLDERS),
    defaults: { tenant: 'default' },
    limiter: new GuessLimiter(systemTimers),
    clock: systemTimers,
    log,
  });
  const authorizer = new HookAuthorizer({
    client,
    request: request(
      '/authz',
      ['clientid', 'username', 'action', 'topic', 'qos', 'retain'],
      AUTHORIZATION_PLACEHOLDERS,
    ),
    ownRules: rulesAuthorizer,
    clock: systemTimers,
  });
  return {
    authorizer,
    authenticator: {
      async authenticate({ peer, ...credentials }: Credentials) {
        const said = await authenticator.authenticate({ ...credentials, address: peer.address });
        return 'notMine' in said ? { refused: 0x87, reason: said.notMine } : said;
      },
    },
  };
}
