import { rulesAuthorizer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { doorUnderTest } from '../support/door.ts';
import type { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { control, properties, text } from './raw/hex.ts';
import {
  expectDisconnect,
  expectMessage,
  type Fields,
  propertiesOf,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';
import { BRIEF_SECONDS, TOKEN_METHOD, wordMethods } from './raw/tokens.ts';
import { elapse } from './util/time.ts';

const RE_AUTHENTICATE = 0x19;

describe.skipIf(runningBrokerUrl !== undefined)(`a token in CONNECT (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticationMethods: wordMethods });

  it.each(['OAUTH2-JWT', 'CUSTOM-JWT'])(
    'lets its client in by the method %s, which CONNACK names [MQTT-4.12.0-5]',
    async (name) => {
      const { connack } = await peers.connect(proof('ada', name));
      expect(connack.reasonCode).toBe(0);
      expect(propertiesOf(connack).authenticationMethod).toBe(name);
    },
  );

  it.each([
    ['is forged', proof('forged')],
    ['has expired', proof('expired')],
    ['is absent', { properties: { authenticationMethod: TOKEN_METHOD } }],
  ])('that %s is answered with 0x87, then closed [MQTT-3.1.4-2] [MQTT-3.2.2-7]', async (_, fields) => {
    const { client, connack } = await peers.connect(fields);
    expect(connack.reasonCode).toBe(0x87);
    await client.expectClose();
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`a token in AUTH (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticationMethods: wordMethods });

  async function connected(token = 'ada'): Promise<RawClient> {
    const { client, connack } = await peers.connect(proof(token));
    expect(connack.reasonCode).toBe(0);
    return client;
  }

  it('is answered with AUTH 0x00 that names the method [MQTT-4.12.1-1] [MQTT-4.12.0-5] [MQTT-3.15.2-1]', async () => {
    const client = await connected();
    client.send(auth('ada 2'));
    await expectSuccess(client);
    await client.expectNothing();
  });

  it('leaves subscriptions as they are', async () => {
    const topic = unique('renewed');
    const client = await connected();
    await subscribe(client, topic);
    client.send(auth('ada 2'));
    await expectSuccess(client);
    await publish(client, { topic, payload: 'x' });
    await expectMessage(client, 'x');
  });

  it('may be sent again, and stays valid until it expires', async () => {
    const client = await connected();
    for (let time = 0; time < 3; time += 1) {
      client.send(auth('ada 2'));
      await expectSuccess(client);
    }
  });

  it('waits while another token is checked: each is answered', async () => {
    const client = await connected();
    client.send(auth('ada 2'));
    client.send(auth('ada 3'));
    await expectSuccess(client);
    await expectSuccess(client);
    await client.expectNothing();
  });

  it.each([
    ['is forged', 'forged'],
    ['has expired', 'expired'],
    ['is empty', ''],
    ['names somebody else', 'bob'],
  ])('that %s ends the connection with DISCONNECT 0x87 [MQTT-4.12.1-2] [SEC-EXPIRY-3]', async (_, token) => {
    const client = await connected();
    client.send(auth(token));
    await expectDisconnect(client, 0x87);
  });

  it('is needed: AUTH without data ends the connection with DISCONNECT 0x87 [MQTT-4.12.1-2] [SEC-EXPIRY-5]', async () => {
    const client = await connected();
    client.send({
      cmd: 'auth',
      reasonCode: RE_AUTHENTICATE,
      properties: { authenticationMethod: TOKEN_METHOD },
    });
    await expectDisconnect(client, 0x87);
  });

  it('after another token that failed is ignored [MQTT-4.12.1-2]', async () => {
    const client = await connected();
    client.send(auth('forged'));
    client.send(auth('ada 2'));
    await expectDisconnect(client, 0x87);
  });

  it('under the other name is a protocol error: the method is that of CONNECT [MQTT-4.12.1-1] [MQTT-4.13.1-1]', async () => {
    const client = await connected();
    client.send(auth('ada 2', 'OAUTH2-JWT'));
    await expectDisconnect(client, 0x82);
  });

  it('does not come with 0x18, as no second step was asked for [MQTT-4.12.1-1]', async () => {
    const client = await connected();
    client.send({ ...auth('ada 2'), reasonCode: 0x18 });
    await expectDisconnect(client, 0x82);
  });

  it.each([
    ['ends within its data', control('f0', '19', properties('15', text(TOKEN_METHOD), '16', '0009', '61'))],
    [
      'has its data twice',
      control('f0', '19', properties('15', text(TOKEN_METHOD), '16', '0001 61', '16', '0001 61')),
    ],
    ['has a reason code that is not AUTH’s', control('f0', '87', properties('15', text(TOKEN_METHOD)))],
  ])('that %s ends the connection [MQTT-4.13.1-1] [MQTT-3.15.2-1]', async (_, bytes) => {
    const client = await connected();
    client.sendBytes(bytes);
    const packet = await client.expect('disconnect');
    expect([0x81, 0x82]).toContain(packet.reasonCode);
    await client.expectClose();
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(
  `a token that counts from AUTH on (${OPTIONS_NEED_OUR_DOOR})`,
  () => {
    const peers = usePeers({ authenticationMethods: wordMethods, authorizer: rulesAuthorizer });

    /** Past the end of a brief token, and past when a door looks for it. */
    const outlastBrief = (): Promise<void> => elapse(BRIEF_SECONDS + 0.5);

    async function connected(token: string, fields: Fields = {}): Promise<RawClient> {
      const { client, connack } = await peers.connect({
        clientId: unique('ada'),
        ...fields,
        ...proof(token),
      });
      expect(connack.reasonCode).toBe(0);
      return client;
    }

    async function renew(client: RawClient, token: string): Promise<void> {
      client.send(auth(token));
      await expectSuccess(client);
    }

    /** A node ends the connection by itself, the gateway door at the next frame. */
    async function expectEnd(client: RawClient): Promise<void> {
      if (doorUnderTest === 'gateway') client.send({ cmd: 'pingreq' });
      await expectDisconnect(client, 0x87);
    }

    it('lets the connection live and receive beyond the expiry of the first token', async () => {
      const topic = unique('open');
      const client = await connected('ada brief');
      await subscribe(client, topic, { qos: 1 });
      await renew(client, 'ada');
      await outlastBrief();
      const publisher = await connected('bob', { clientId: unique('bob') });
      await publish(publisher, { topic, payload: 'x', qos: 1 });
      await expectMessage(client, 'x');
    });

    it('ends the connection at its own expiry [SEC-EXPIRY-4]', async () => {
      const client = await connected('ada');
      await renew(client, 'ada brief');
      await outlastBrief();
      await expectEnd(client);
    });

    it('does not extend the connection when it is sent again [SEC-EXPIRY-4]', async () => {
      const client = await connected('ada brief');
      for (let time = 0; time < 2; time += 1) await renew(client, 'ada 2 brief');
      await outlastBrief();
      await expectEnd(client);
    });

    it('replaces the rights: subscriptions that it does not allow end, and other topics are refused [SEC-EXPIRY-4]', async () => {
      const client = await connected('ada');
      const topic = unique('closed');
      await subscribe(client, topic);
      await subscribe(client, 'open/#');
      await renew(client, 'ada narrow');
      const publisher = await connected('bob', { clientId: unique('bob') });
      await publish(publisher, { topic, payload: 'closed', qos: 1 });
      await publish(publisher, { topic: `open/${topic}`, payload: 'open', qos: 1 });
      await expectMessage(client, 'open');
      expect(await subscribe(client, topic)).toBe(0x87);
      client.send({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 9 });
      expect((await client.expect('puback')).reasonCode).toBe(0x87);
    });

    it('allows topics that the first token did not', async () => {
      const client = await connected('ada narrow');
      const topic = unique('closed');
      expect(await subscribe(client, topic)).toBe(0x87);
      await renew(client, 'ada');
      expect(await subscribe(client, topic)).toBe(0);
      await publish(client, { topic, payload: 'x' });
      await expectMessage(client, 'x');
    });
  },
);

/** CONNECT's fields with this token. */
function proof(token: string, method = TOKEN_METHOD): Fields {
  return { properties: { authenticationMethod: method, authenticationData: Buffer.from(token) } };
}

/** AUTH that shows this token. */
function auth(token: string, method = TOKEN_METHOD): Fields {
  return { cmd: 'auth', reasonCode: RE_AUTHENTICATE, ...proof(token, method) };
}

async function expectSuccess(client: RawClient): Promise<void> {
  const packet = await client.expect('auth');
  expect(packet.reasonCode).toBe(0);
  expect(propertiesOf(packet).authenticationMethod).toBe(TOKEN_METHOD);
}
