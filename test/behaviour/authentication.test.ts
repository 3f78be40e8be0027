import { describe, expect, it } from 'vitest';
import type { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { challengeMethod, METHOD, passwordAuthenticator } from './raw/challenge.ts';
import { connectBytes, control, properties, text } from './raw/hex.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  type Fields,
  propertiesOf,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const anonymous = usePeers();

describe('AUTH', () => {
  it('is a protocol error without a method in CONNECT [MQTT-4.12.0-7] [MQTT-4.13.1-1]', async () => {
    for (const bytes of ['f0 00', control('f0', '19', properties('15', text(METHOD)))]) {
      const { client } = await anonymous.connect();
      client.sendBytes(bytes);
      await expectDisconnect(client, 0x82);
    }
  });

  it('does not exist in MQTT 3.1.1 [MQTT3-4.8.0-1]', async () => {
    const { client } = await anonymous.connect({ protocolVersion: 4 });
    client.sendBytes('f0 00');
    await expectCloseWithoutPackets(client);
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`user name and password (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator: passwordAuthenticator });

  it('that are right let the client in [MQTT-3.1.4-2] [MQTT-3.1.4-5]', async () => {
    const { connack } = await peers.connect({ username: 'alice', password: 'secret' });
    expect(connack.reasonCode).toBe(0);
  });

  it.each([
    ['wrong', { username: 'alice', password: 'guess' }],
    ['absent', {}],
  ])('that are %s are answered with 0x86, then closed [MQTT-3.1.4-2] [MQTT-3.2.2-7]', async (_, fields) => {
    const { client, connack } = await peers.connect(fields);
    expect(connack.reasonCode).toBe(0x86);
    expect(connack.sessionPresent).toBe(false);
    await client.expectClose();
  });

  it('that are wrong are answered with return code 4 in MQTT 3.1.1 [MQTT3-3.2.2-5] [MQTT3-3.2.2-4]', async () => {
    const { client, connack } = await peers.connect({ protocolVersion: 4, username: 'alice', password: 'x' });
    expect(client.bytesOf(connack)).toEqual(Buffer.from([0x20, 2, 0, 4]));
    await client.expectClose();
  });

  it('that the server does not authorise are answered with 0x87, and 5 in MQTT 3.1.1 [MQTT-3.1.4-2]', async () => {
    const mallory = { username: 'mallory', password: 'secret' };
    expect((await peers.connect(mallory)).connack.reasonCode).toBe(0x87);
    expect((await peers.connect({ ...mallory, protocolVersion: 4 })).connack.returnCode).toBe(5);
  });

  it('that are wrong do not take over a connection, nor let a packet through [MQTT-3.1.4-6]', async () => {
    const clientId = unique('target');
    const topic = unique('target');
    const owner = await peers.connect({ clientId, username: 'alice', password: 'secret' });
    await subscribe(owner.client, topic);
    const intruder = await peers.open();
    const connect = connectBytes({ flags: '82', payload: text(clientId) + text('nobody') });
    intruder.sendBytes(connect + control('30', text(topic), '00', '78'));
    expect((await intruder.expect('connack')).reasonCode).toBe(0x86);
    await intruder.expectClose();
    await owner.client.expectNothing();
  });

  it('that are wrong leave no will behind [MQTT-3.1.2-7]', async () => {
    const topic = unique('nobody');
    const alice = { username: 'alice', password: 'secret' };
    const { client: watcher } = await peers.connect(alice);
    await subscribe(watcher, topic);
    const will = (payload: string) => ({ will: { topic, payload, qos: 0, retain: false } });
    const refused = await peers.connect({ ...will('nobody'), username: 'alice', password: 'x' });
    await refused.client.expectClose();
    const marker = await peers.connect({ ...alice, ...will('marker') });
    await marker.client.vanish();
    await expectMessage(watcher, 'marker');
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`permission (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    authorizer: {
      mayPublish: (_identity, _clientId, topic) => topic !== 'forbidden',
      maySubscribe: (_identity, _clientId, topicFilter) => topicFilter !== 'forbidden',
    },
  });

  it('is needed for the topic of a will: CONNACK 0x87, and 5 in MQTT 3.1.1 [MQTT-3.1.4-2]', async () => {
    const will = { topic: 'forbidden', payload: 'gone', qos: 0, retain: false };
    const { client, connack } = await peers.connect({ will });
    expect(connack.reasonCode).toBe(0x87);
    await client.expectClose();
    expect((await peers.connect({ will, protocolVersion: 4 })).connack.returnCode).toBe(5);
    expect((await peers.connect({ will: { ...will, topic: 'allowed' } })).connack.reasonCode).toBe(0);
  });

  it('that is refused is not explained to a client with Request Problem Information 0 [MQTT-3.1.2-29]', async () => {
    const topic = 'forbidden';
    const { client } = await peers.connect({ properties: { requestProblemInformation: false } });
    const ask = async (packet: Fields, answer: string): Promise<void> => {
      client.send({ messageId: 1, ...packet });
      const refusal = await client.expect(answer);
      expect(refusal.reasonCode ?? (refusal.granted as unknown[])[0]).toBe(0x87);
      expect(propertiesOf(refusal), answer).not.toHaveProperty('reasonString');
      expect(propertiesOf(refusal), answer).not.toHaveProperty('userProperties');
    };
    await ask({ cmd: 'subscribe', subscriptions: [{ topic, qos: 1 }] }, 'suback');
    await ask({ cmd: 'publish', topic, payload: 'x', qos: 1 }, 'puback');
    await ask({ cmd: 'publish', topic, payload: 'x', qos: 2 }, 'pubrec');
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`enhanced authentication (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticationMethods: [challengeMethod] });

  /** CONNECT that names the method, with this Authentication Data. */
  async function begin(data: string, { properties: more, ...fields }: Fields = {}): Promise<RawClient> {
    const client = await peers.open();
    client.send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: true,
      clientId: unique('challenged'),
      keepalive: 0,
      ...fields,
      properties: {
        ...(more as Fields | undefined),
        authenticationMethod: METHOD,
        authenticationData: Buffer.from(data),
      },
    });
    return client;
  }

  function sendAuth(client: RawClient, reasonCode: number, data: string, method = METHOD): void {
    client.send({
      cmd: 'auth',
      reasonCode,
      properties: { authenticationMethod: method, authenticationData: Buffer.from(data) },
    });
  }

  async function expectAuth(client: RawClient, reasonCode: number, data: string): Promise<void> {
    const auth = await client.expect('auth');
    expect(auth.reasonCode).toBe(reasonCode);
    expect(propertiesOf(auth)).toMatchObject({
      authenticationMethod: METHOD,
      authenticationData: Buffer.from(data),
    });
  }

  /** A client that has answered its challenge and is connected. */
  async function authenticated(fields: Fields = {}): Promise<RawClient> {
    const client = await begin('alice', fields);
    await expectAuth(client, 0x18, 'who is alice?');
    sendAuth(client, 0x18, 'right');
    const connack = await client.expect('connack');
    expect(connack.reasonCode).toBe(0);
    expect(propertiesOf(connack)).toMatchObject({
      authenticationMethod: METHOD,
      authenticationData: Buffer.from('welcome'),
    });
    return client;
  }

  it('exchanges AUTH 0x18 until CONNACK, each with the method and its data [MQTT-4.12.0-2] [MQTT-4.12.0-5] [MQTT-3.2.0-1] [MQTT-3.15.2-1]', async () => {
    await (await authenticated()).expectNothing();
  });

  it('may take several steps [MQTT-4.12.0-2] [MQTT-4.12.0-3]', async () => {
    const client = await begin('bob');
    await expectAuth(client, 0x18, 'who is bob?');
    sendAuth(client, 0x18, 'again');
    await expectAuth(client, 0x18, 'again?');
    sendAuth(client, 0x18, 'right');
    expect((await client.expect('connack')).reasonCode).toBe(0);
  });

  it('may succeed at once, without AUTH [MQTT-4.12.0-5]', async () => {
    const client = await begin('trusted');
    const connack = await client.expect('connack');
    expect(connack.reasonCode).toBe(0);
    expect(propertiesOf(connack).authenticationMethod).toBe(METHOD);
  });

  it('that fails is answered with a refusing CONNACK and closed [MQTT-4.12.0-4] [MQTT-3.2.2-7] [MQTT-3.14.0-1]', async () => {
    const client = await begin('alice');
    await client.expect('auth');
    sendAuth(client, 0x18, 'wrong');
    expect((await client.expect('connack')).reasonCode).toBe(0x87);
    await client.expectClose();
  });

  it('with a method that is not configured is refused with 0x8C [MQTT-4.12.0-1]', async () => {
    const { client, connack } = await peers.connect({ properties: { authenticationMethod: 'OTHER' } });
    expect(connack.reasonCode).toBe(0x8c);
    await client.expectClose();
  });

  it('says no more in AUTH than the Maximum Packet Size allows [MQTT-3.15.2-2] [MQTT-3.15.2-3]', async () => {
    const client = await begin('alice', { properties: { maximumPacketSize: 34 } });
    const auth = await client.expect('auth');
    expect(client.bytesOf(auth).length).toBeLessThanOrEqual(34);
  });

  it('is refused with CONNACK 0x95 where AUTH is larger than the Maximum Packet Size, and so is a later mistake [MQTT-3.1.2-24] [MQTT-3.2.2-19]', async () => {
    for (const [maximumPacketSize, reasonCode] of [
      [33, 0x95],
      [34, 0x87],
    ] as const) {
      const client = await begin('alice', { properties: { maximumPacketSize } });
      if (maximumPacketSize === 34) {
        await client.expect('auth');
        sendAuth(client, 0x18, 'wrong');
      }
      const connack = await client.expect('connack');
      expect(connack.reasonCode).toBe(reasonCode);
      expect(client.bytesOf(connack).length).toBeLessThanOrEqual(maximumPacketSize);
      await client.expectClose();
    }
    const client = await begin('alice', { properties: { maximumPacketSize: 34 } });
    await client.expect('auth');
    client.sendBytes('c000');
    expect(client.bytesOf(await client.expect('connack')).length).toBeLessThanOrEqual(34);
  });

  it('is not performed for a client that names no method [MQTT-4.12.0-6]', async () => {
    const { client, connack } = await peers.connect();
    expect(propertiesOf(connack)).not.toHaveProperty('authenticationMethod');
    await client.expectNothing();
  });

  it.each([
    ['PINGREQ', 'c000'],
    ['PUBLISH', '30 04 0001 61 00'],
    ['SUBSCRIBE', '82 07 0001 00 0001 61 00'],
    ['CONNECT', connectBytes()],
  ])('allows no %s before CONNACK [MQTT-3.1.2-30] [MQTT-3.14.0-1]', async (_, bytes) => {
    const client = await begin('alice');
    await client.expect('auth');
    client.sendBytes(bytes);
    await client.expectClose();
    await expectNothingButARefusal(client);
  });

  it('allows DISCONNECT before CONNACK [MQTT-3.1.2-30]', async () => {
    const client = await begin('alice');
    await client.expect('auth');
    client.sendBytes('e000');
    await expectCloseWithoutPackets(client);
  });

  it.each([
    ['another method', 0x18, 'OTHER'],
    ['the reason code 0x19', 0x19, METHOD],
    ['the reason code 0x00', 0x00, METHOD],
  ])('does not go on with %s [MQTT-4.12.0-5] [MQTT-4.12.0-3]', async (_, reasonCode, method) => {
    const client = await begin('alice');
    await client.expect('auth');
    sendAuth(client, reasonCode, 'right', method);
    await client.expectClose();
    await expectNothingButARefusal(client);
  });

  it('that breaks off leaves no session and no will [MQTT-3.1.2-7] [MQTT-4.12.0-4]', async () => {
    const clientId = unique('broken');
    const topic = unique('broken');
    const watcher = await peers.subscriber(topic);
    const will = (payload: string) => ({ will: { topic, payload, qos: 0, retain: false } });
    const client = await begin('alice', { clientId, ...will('gone') });
    await client.expect('auth');
    await client.vanish();
    const marker = await peers.connect({ clientId, clean: false, ...will('marker') });
    expect(marker.connack.sessionPresent).toBe(false);
    await marker.client.vanish();
    await expectMessage(watcher, 'marker');
  });

  it('does not take over a connection before it has succeeded [MQTT-3.1.4-3]', async () => {
    const clientId = unique('owner');
    const owner = await authenticated({ clientId });
    const intruder = await begin('alice', { clientId });
    await intruder.expect('auth');
    await owner.expectNothing();
    sendAuth(intruder, 0x18, 'wrong');
    await intruder.expectClose();
    await owner.expectNothing();
  });

  describe('again', () => {
    it('is answered with AUTH 0x18 and then 0x00 [MQTT-4.12.1-1] [MQTT-4.12.0-5] [MQTT-3.15.2-1]', async () => {
      const client = await authenticated();
      sendAuth(client, 0x19, 'alice');
      await expectAuth(client, 0x18, 'who is alice?');
      sendAuth(client, 0x18, 'right');
      await expectAuth(client, 0x00, 'welcome');
      await client.expectNothing();
    });

    it('lets other packets through meanwhile [MQTT-4.12.1-1]', async () => {
      const topic = unique('meanwhile');
      const client = await authenticated();
      await subscribe(client, topic);
      sendAuth(client, 0x19, 'alice');
      await client.expect('auth');
      await publish(client, { topic, payload: 'x' });
      await expectMessage(client, 'x');
      sendAuth(client, 0x18, 'right');
      await expectAuth(client, 0x00, 'welcome');
    });

    it('ends the connection with DISCONNECT 0x95 where AUTH is larger than the Maximum Packet Size [MQTT-3.1.2-24] [MQTT-4.12.1-2]', async () => {
      const client = await authenticated({ properties: { maximumPacketSize: 60 } });
      sendAuth(client, 0x19, 'a'.repeat(60));
      expect(client.bytesOf(await expectDisconnect(client, 0x95)).length).toBeLessThanOrEqual(60);
    });

    it('that fails ends the connection with DISCONNECT [MQTT-4.12.1-2]', async () => {
      const client = await authenticated();
      sendAuth(client, 0x19, 'alice');
      await client.expect('auth');
      sendAuth(client, 0x18, 'wrong');
      await expectDisconnect(client, 0x87);
    });
  });
});

/** After a close: either nothing was said, or a CONNACK that refuses, but no DISCONNECT [MQTT-3.14.0-1]. */
async function expectNothingButARefusal(client: RawClient): Promise<void> {
  const answer = await client.next().catch(() => undefined);
  if (answer === undefined) return;
  expect(answer.cmd).toBe('connack');
  expect(answer.reasonCode).toBeGreaterThanOrEqual(0x80);
}
