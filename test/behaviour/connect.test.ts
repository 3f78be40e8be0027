import { describe, expect, it } from 'vitest';
import { unique } from '../support/unique.ts';
import { connectBytes, control, properties, text } from './raw/hex.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  type Fields,
  propertiesOf,
  publish,
  type Received,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const peers = usePeers();

describe('CONNECT', () => {
  it('is answered with one CONNACK of Success [MQTT-3.1.4-5] [MQTT-3.2.0-2]', async () => {
    const { client, connack } = await peers.connect();
    expect(connack.reasonCode).toBe(0);
    expect(connack.sessionPresent).toBe(false);
    await client.expectNothing();
  });

  it.each([
    ['PINGREQ', 'c000'],
    ['PUBLISH', '3004 0001 61 00'],
    ['SUBSCRIBE', '8207 0001 00 0001 61 00'],
    ['UNSUBSCRIBE', 'a206 0001 00 0001 61'],
    ['PUBACK', '4002 0001'],
    ['DISCONNECT', 'e000'],
    ['AUTH', 'f000'],
  ])(
    'must be the first packet: %s before it closes the connection [MQTT-3.1.0-1] [MQTT-3.14.0-1]',
    async (_, bytes) => {
      const client = await peers.open();
      client.sendBytes(bytes);
      await expectCloseWithoutPackets(client);
    },
  );

  it('is a protocol error the second time [MQTT-3.1.0-2]', async () => {
    const { client } = await peers.connect();
    client.sendBytes(connectBytes({ payload: text(unique('twice')) }));
    await expectDisconnect(client, 0x82);
  });

  it('is a protocol error the second time even with the same bytes in the same frame [MQTT-3.1.0-2]', async () => {
    const client = await peers.open();
    const bytes = connectBytes({ payload: text(unique('twice')) });
    client.sendBytes(bytes + bytes);
    await client.expect('connack');
    await expectDisconnect(client, 0x82);
  });

  it('may be followed by packets before CONNACK has come, and CONNACK is still first [MQTT-3.2.0-1]', async () => {
    const client = await peers.open();
    const topic = text(unique('eager'));
    const subscribeBytes = control('82', '0001', '00', topic, '00');
    const publishBytes = control('30', topic, '00', '2a');
    client.sendBytes(connectBytes({ payload: text(unique('eager')) }) + subscribeBytes + publishBytes);
    expect((await client.expect('connack')).reasonCode).toBe(0);
    await client.expect('suback');
    await expectMessage(client, '*');
  });

  it('when refused, lets no later packet be processed [MQTT-3.1.4-6] [MQTT-3.1.4-1]', async () => {
    const topic = unique('refused');
    const watcher = await peers.subscriber(topic);
    const client = await peers.open();
    const invalid = connectBytes({ flags: '03' });
    client.sendBytes(invalid + control('30', text(topic), '00', '78'));
    await client.expectClose();
    const { client: other } = await peers.connect();
    await publish(other, { topic, payload: 'marker' });
    await expectMessage(watcher, 'marker');
  });
});

describe('the protocol name and version of CONNECT', () => {
  it('accepts MQTT 5.0 [MQTT-3.1.2-2]', async () => {
    const { connack } = await peers.connect({ protocolVersion: 5 });
    expect(connack.reasonCode).toBe(0);
  });

  it.each(['06', '7f'])(
    'answers the unknown level 0x%s with 0x84 and closes [MQTT-3.1.2-2] [MQTT-3.2.2-7]',
    async (level) => {
      const client = await peers.open();
      client.sendBytes(connectBytes({ level }));
      expect((await client.expect('connack')).reasonCode).toBe(0x84);
      await client.expectClose();
    },
  );

  it.each([
    ['MQTX', '05'],
    ['mqtt', '05'],
    ['MQT', '04'],
    ['', '05'],
    ['MQTTT', '05'],
  ])('does not accept the protocol name "%s" [MQTT-3.1.2-1]', async (name, level) => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ protocolName: text(name), level }));
    await client.expectClose();
    const answer = await client.next().catch(() => undefined);
    if (answer !== undefined) expect([0x84, 0x81, 0x82]).toContain(answer.reasonCode);
  });
});

describe('the client identifier', () => {
  it('may be any 1 to 23 letters and digits [MQTT-3.1.3-5]', async () => {
    const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
    for (const clientId of ['0', alphabet.slice(0, 23), alphabet.slice(23, 46), alphabet.slice(39)]) {
      const { connack } = await peers.connect({ clientId });
      expect(connack.reasonCode, clientId).toBe(0);
      expect(propertiesOf(connack)).not.toHaveProperty('assignedClientIdentifier');
    }
  });

  it('may be longer and hold any character of Unicode [MQTT-3.1.3-4] [MQTT-1.5.4-3]', async () => {
    const clientId = `${unique('\u{feff}naïve/客户/🐦')}-${'x'.repeat(60)}`;
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await client.disconnect();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
    const withoutMark = await peers.connect({ clientId: clientId.slice(1), clean: false });
    expect(withoutMark.connack.sessionPresent).toBe(false);
  });

  it('is assigned by the server when empty, a new one each time [MQTT-3.1.3-6] [MQTT-3.2.2-16]', async () => {
    const first = propertiesOf((await peers.connect({ clientId: '' })).connack).assignedClientIdentifier;
    const second = propertiesOf((await peers.connect({ clientId: '' })).connack).assignedClientIdentifier;
    expect(first).toEqual(expect.stringMatching(/./));
    expect(second).toEqual(expect.stringMatching(/./));
    expect(first).not.toBe(second);
  });

  it('that was assigned works as if the client had chosen it [MQTT-3.1.3-7]', async () => {
    const { client, connack } = await peers.connect({
      clientId: '',
      properties: { sessionExpiryInterval: 60 },
    });
    const clientId = propertiesOf(connack).assignedClientIdentifier;
    await subscribe(client, unique('assigned'), { qos: 1 });
    await client.disconnect();
    const again = await peers.connect({ clientId, clean: false });
    expect(again.connack.sessionPresent).toBe(true);
    expect(propertiesOf(again.connack)).not.toHaveProperty('assignedClientIdentifier');
  });

  it('may be empty with Clean Start 0 too [MQTT-3.1.3-6] [MQTT-3.2.2-3]', async () => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ flags: '00', payload: text('') }));
    const connack = await client.expect('connack');
    expect(connack.reasonCode).toBe(0);
    expect(connack.sessionPresent).toBe(false);
    expect(propertiesOf(connack).assignedClientIdentifier).toEqual(expect.stringMatching(/./));
  });

  it('names the session: another identifier has another session [MQTT-3.1.3-2] [MQTT-3.1.3-3]', async () => {
    const clientId = unique('mine');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await client.disconnect();
    const other = await peers.connect({ clientId: `${clientId}x`, clean: false });
    expect(other.connack.sessionPresent).toBe(false);
    const upper = await peers.connect({ clientId: clientId.toUpperCase(), clean: false });
    expect(upper.connack.sessionPresent).toBe(false);
    const same = await peers.connect({ clientId, clean: false });
    expect(same.connack.sessionPresent).toBe(true);
  });
});

describe('the properties of CONNECT', () => {
  it('may all be present [MQTT-3.1.4-1] [MQTT-3.1.4-5]', async () => {
    const { connack } = await peers.connect({
      properties: {
        sessionExpiryInterval: 10,
        receiveMaximum: 65_535,
        maximumPacketSize: 268_435_455,
        topicAliasMaximum: 65_535,
        requestResponseInformation: true,
        requestProblemInformation: true,
        userProperties: { a: ['1', '2'], b: '' },
      },
    });
    expect(connack.reasonCode).toBe(0);
  });

  it('take the smallest and the largest values [MQTT-3.1.4-5]', async () => {
    for (const block of [
      properties('11 00000000', '21 0001', '22 0000', '19 00', '17 00'),
      properties('11 ffffffff', '21 ffff', '27 ffffffff', '22 ffff', '19 01', '17 01'),
    ]) {
      const client = await peers.open();
      client.sendBytes(connectBytes({ properties: block, payload: text(unique('edge')) }));
      expect((await client.expect('connack')).reasonCode).toBe(0);
      await client.disconnect({ properties: { sessionExpiryInterval: 0 } });
    }
  });

  it('ask for no Response Information by default and with 0 [MQTT-3.1.2-28]', async () => {
    for (const asked of [{}, { requestResponseInformation: false }]) {
      const { connack } = await peers.connect({ properties: asked });
      expect(propertiesOf(connack)).not.toHaveProperty('responseInformation');
    }
  });

  it('silence reason strings and user properties with Request Problem Information 0 [MQTT-3.1.2-29]', async () => {
    const { client } = await peers.connect({ properties: { requestProblemInformation: false } });
    const topic = unique('silence');
    const answers: Received[] = [];
    const ask = async (packet: Fields, answer: string): Promise<void> => {
      client.send(packet);
      answers.push(await client.expect(answer));
    };
    await ask({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: [topic] }, 'unsuback');
    await ask({ cmd: 'publish', topic, payload: '', qos: 1, messageId: 2 }, 'puback');
    await ask({ cmd: 'publish', topic, payload: '', qos: 2, messageId: 3 }, 'pubrec');
    await ask({ cmd: 'pubrel', messageId: 3 }, 'pubcomp');
    await ask({ cmd: 'pubrel', messageId: 4 }, 'pubcomp');
    await ask({ cmd: 'subscribe', messageId: 5, subscriptions: [{ topic, qos: 0 }] }, 'suback');
    for (const answer of answers) {
      expect(propertiesOf(answer), answer.cmd).not.toHaveProperty('reasonString');
      expect(propertiesOf(answer), answer.cmd).not.toHaveProperty('userProperties');
    }
  });
});

describe('user name and password', () => {
  it.each([
    ['neither', {}],
    ['both', { username: 'naïve', password: Buffer.from([0, 255]) }],
    ['a user name alone', { username: 'u' }],
    ['a password alone, which MQTT 5.0 allows', { password: 'p' }],
    ['empty ones', { username: '', password: Buffer.alloc(0) }],
  ])(
    'may be %s [MQTT-3.1.2-16] [MQTT-3.1.2-17] [MQTT-3.1.2-18] [MQTT-3.1.2-19] [MQTT-3.1.3-12]',
    async (_, fields) => {
      const flags = 0x02 + ('username' in fields ? 0x80 : 0) + ('password' in fields ? 0x40 : 0);
      const payload = [
        text(unique('named')),
        'username' in fields ? text(String(fields.username)) : '',
        'password' in fields ? text(String(fields.password)) : '',
      ].join('');
      const client = await peers.open();
      client.sendBytes(connectBytes({ flags: flags.toString(16).padStart(2, '0'), payload }));
      expect((await client.expect('connack')).reasonCode).toBe(0);
    },
  );
});
