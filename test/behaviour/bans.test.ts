import type { Authenticator } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

const KEY = 'a-key-of-more-than-22-characters';
const ISSUED_AT = '2026-01-31T12:00:00Z';

/** A client is who its user name says; its password is the id of its token. */
const authenticator: Authenticator = {
  authenticate: ({ username, password }) => ({
    tenant: 'default',
    name: username ?? '',
    rules: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
    issuedAtMs: Date.parse(ISSUED_AT),
    ...(password !== undefined && { tokenId: Buffer.from(password).toString() }),
  }),
};

ownDoor(`a ban (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator, apiKey: KEY });

  async function api(method: string, path: string, body?: object): Promise<number> {
    const { status } = await fetch(new URL(`/api/v5${path}`, peers.httpUrl()), {
      method,
      headers: { authorization: `Bearer ${KEY}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return status;
  }

  const ban = async (as: string, who: string, more: object = {}): Promise<void> => {
    expect(await api('POST', '/banned', { as, who, ...more })).toBe(200);
  };
  const unban = async (as: string, who: string): Promise<void> => {
    expect(await api('DELETE', `/banned/${as}/${encodeURIComponent(who)}`)).toBe(204);
  };

  it('of a client identifier ends its connection at once, and refuses the next: 0x98, then 0x8A', async () => {
    const clientId = unique('pest');
    const { client } = await peers.connect({ clientId });
    const bystander = await peers.connect();
    await ban('clientid', clientId);
    await expectDisconnect(client, 0x98);
    expect((await peers.connect({ clientId })).connack.reasonCode).toBe(0x8a);
    await bystander.client.expectNothing();
    await unban('clientid', clientId);
    expect((await peers.connect({ clientId })).connack.reasonCode).toBe(0);
  });

  it('closes the connection in MQTT 3.1.1, and answers the next CONNECT with return code 5', async () => {
    const clientId = unique('pest');
    const { client } = await peers.connect({ clientId, protocolVersion: 4 });
    await ban('clientid', clientId);
    await expectCloseWithoutPackets(client);
    expect((await peers.connect({ clientId, protocolVersion: 4 })).connack.returnCode).toBe(5);
  });

  it('of a name ends all its connections and its waiting sessions, which receive nothing more [SEC-BAN-4]', async () => {
    const username = unique('anna');
    const topic = unique('news');
    const session = { username, clientId: `${username}-away`, properties: { sessionExpiryInterval: 60 } };
    const away = await peers.connect(session);
    await subscribe(away.client, topic, { qos: 1 });
    await away.client.disconnect();
    const [one, other] = await Promise.all([1, 2].map(() => peers.connect({ username })));
    await ban('username', username);
    for (const each of [one, other]) if (each) await expectDisconnect(each.client, 0x98);
    await publish((await peers.connect()).client, { topic, payload: 'kept?', qos: 1 });
    expect((await peers.connect({ ...session, clean: false })).connack.reasonCode).toBe(0x8a);
    await unban('username', username);
    const back = await peers.connect({ ...session, clean: false });
    expect(back.connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
    await back.client.expectNothing();
  });

  it('sends no will of a client that it names [MQTT-3.1.2-8]', async () => {
    const username = unique('anna');
    const topic = unique('will');
    const watcher = await peers.subscriber(topic);
    const will = { topic, payload: 'gone', qos: 0, retain: false };
    const { client } = await peers.connect({ username, will });
    await ban('username', username);
    await expectDisconnect(client, 0x98);
    const marker = await peers.connect({ will: { ...will, payload: 'marker' } });
    await marker.client.vanish();
    await expectMessage(watcher, 'marker');
  });

  it.each([
    ['username', ''],
    ['clientid', ''],
    ['token', ''],
    ['username', '$delayed/1/'],
  ] as const)(
    'of a %s sends none of its delayed messages, and no will that waits (%s) [SEC-WAY-2]',
    async (as, prefix) => {
      const username = unique('anna');
      const names = { username, clientid: `${username}-phone`, token: unique('jti') };
      const topic = unique('later');
      const watcher = await peers.subscriber(topic);
      const leave = async (payload: string, who: typeof names) => {
        const { client } = await peers.connect({
          username: who.username,
          clientId: who.clientid,
          password: who.token,
          properties: { sessionExpiryInterval: 60 },
          will: {
            topic: `${prefix}${topic}`,
            payload: `will of ${payload}`,
            qos: 1,
            retain: false,
            properties: { willDelayInterval: prefix === '' ? 1 : 0 },
          },
        });
        await publish(client, { topic: `$delayed/1/${topic}`, payload: `words of ${payload}`, qos: 1 });
        await client.vanish();
      };
      await leave('the banned', names);
      await ban(as, names[as]);
      await leave('another', { username: `${username}b`, clientid: `${username}b`, token: unique('jti') });
      const received = [await watcher.expect('publish'), await watcher.expect('publish')];
      expect(received.map(({ payload }) => String(payload)).sort()).toEqual([
        'will of another',
        'words of another',
      ]);
      await unban(as, names[as]);
    },
  );

  it('of a token leaves the other tokens of its name, and answers 0x87, as another token would be accepted', async () => {
    const username = unique('anna');
    const [stolen, own] = [unique('jti'), unique('jti')];
    const thief = await peers.connect({ username, password: stolen });
    const { client } = await peers.connect({ username, password: own });
    await ban('token', stolen);
    await expectDisconnect(thief.client, 0x87);
    expect((await peers.connect({ username, password: stolen })).connack.reasonCode).toBe(0x87);
    await client.expectNothing();
    expect((await peers.connect({ username, password: own })).connack.reasonCode).toBe(0);
  });

  it('of the tokens that a name was issued before a time refuses those, and no later ones', async () => {
    const username = unique('anna');
    const { client } = await peers.connect({ username });
    await ban('username', username, { issued_before: '2026-01-31T12:00:00.001Z' });
    await expectDisconnect(client, 0x87);
    expect((await peers.connect({ username })).connack.reasonCode).toBe(0x87);
    await unban('username', username);
    await ban('username', username, { issued_before: ISSUED_AT });
    expect((await peers.connect({ username })).connack.reasonCode).toBe(0);
  });

  it('of an address refuses its handshakes, and ends its connections; sessions stay [SEC-BAN-4]', async () => {
    const clientId = unique('guest');
    const { client } = await peers.connect({
      clientId,
      username: clientId,
      properties: { sessionExpiryInterval: 60 },
    });
    await ban('peerhost', '127.0.0.1');
    try {
      await expectDisconnect(client, 0x98);
      await expect(peers.connect()).rejects.toThrow();
    } finally {
      await unban('peerhost', '127.0.0.1');
    }
    const { connack } = await peers.connect({ clientId, username: clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });
});
