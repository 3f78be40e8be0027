import { describe, expect, it } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { connectBytes, properties, text } from './raw/hex.ts';
import { type Fields, propertiesOf, subscribe, usePeers } from './raw/peers.ts';

const peers = usePeers();

/** CONNECT with a method that no server knows: well-formed, and always refused. */
function refusedConnect(clientId: string, ...moreProperties: string[]): string {
  return connectBytes({
    flags: '00',
    properties: properties('15', text('X-NOBODY-KNOWS-THIS'), ...moreProperties),
    payload: text(clientId),
  });
}

describe('CONNACK', () => {
  it('has no flag but Session Present, which is 0 for a new session [MQTT-3.2.2-1] [MQTT-3.2.2-2]', async () => {
    const { client, connack } = await peers.connect();
    const bytes = client.bytesOf(connack);
    expect(bytes.readUInt8(0)).toBe(0x20);
    expect(bytes.readUInt8(2)).toBe(0);
  });

  it('has no flag but Session Present, which is 1 for a resumed one [MQTT-3.2.2-1] [MQTT-3.2.2-3]', async () => {
    const clientId = unique('again');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await first.client.disconnect();
    const { client, connack } = await peers.connect({ clientId, clean: false });
    expect(client.bytesOf(connack).readUInt8(2)).toBe(1);
  });

  it('that refuses says Session Present 0 even where there is a session, and closes [MQTT-3.2.2-6] [MQTT-3.2.2-7] [MQTT-4.13.2-1]', async () => {
    const clientId = unique('refused');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await first.client.disconnect();
    const client = await peers.open();
    client.sendBytes(refusedConnect(clientId));
    const connack = await client.expect('connack');
    expect(connack.reasonCode).toBeGreaterThanOrEqual(0x80);
    expect(connack.sessionPresent).toBe(false);
    await client.expectClose();
  });

  it('that refuses leaves the stored session as it was [MQTT-3.1.4-6]', async () => {
    const clientId = unique('refused');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await first.client.disconnect();
    const client = await peers.open();
    client.sendBytes(refusedConnect(clientId));
    await client.expectClose();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it('uses one of its own reason codes to refuse [MQTT-3.2.2-8]', async () => {
    const client = await peers.open();
    client.sendBytes(refusedConnect(unique('refused')));
    expect([0x8c, 0x87]).toContain((await client.expect('connack')).reasonCode);
  });

  it('drops its reason string and user properties rather than exceed a Maximum Packet Size [MQTT-3.2.2-19] [MQTT-3.2.2-20]', async () => {
    const client = await peers.open();
    client.sendBytes(refusedConnect(unique('tiny'), '27 00000005'));
    const connack = await client.expect('connack');
    expect(client.bytesOf(connack).length).toBeLessThanOrEqual(5);
  });

  it('is first when a session with queued messages is resumed [MQTT-3.2.0-1]', async () => {
    const clientId = unique('queue');
    const topic = unique('queue');
    const first = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await subscribe(first.client, topic, { qos: 1 });
    await first.client.vanish();
    const { client: publisher } = await peers.connect();
    publisher.send({ cmd: 'publish', topic, payload: 'x', qos: 1, messageId: 1 });
    await publisher.expect('puback');
    const { client } = await peers.connect({
      clientId,
      clean: false,
      properties: { sessionExpiryInterval: 60 },
    });
    await client.expect('publish');
  });
});

describe("the server's limits in CONNACK", () => {
  it('have values that MQTT 5.0 allows [MQTT-3.1.4-5]', async () => {
    const { connack } = await peers.connect();
    const limits = propertiesOf(connack);
    if ('receiveMaximum' in limits) expect(limits.receiveMaximum).toBeGreaterThan(0);
    if ('maximumPacketSize' in limits) expect(limits.maximumPacketSize).toBeGreaterThan(0);
    if ('maximumQoS' in limits) expect([0, 1]).toContain(limits.maximumQoS);
  });

  it('do not restrict QoS or retained messages [MQTT-3.2.2-9] [MQTT-3.2.2-12] [MQTT-3.2.2-13]', async () => {
    const topic = unique('able');
    peers.forget(topic);
    const { connack } = await peers.connect({
      will: { topic, payload: 'gone', qos: 2, retain: true },
    });
    expect(connack.reasonCode).toBe(0);
    expect(propertiesOf(connack)).not.toHaveProperty('maximumQoS');
    expect(propertiesOf(connack).retainAvailable).not.toBe(false);
  });

  it('keep the Session Expiry Interval that the client asked for, or say otherwise [MQTT-3.1.2-23]', async () => {
    const { connack } = await peers.connect({ properties: { sessionExpiryInterval: 30 } });
    expect(propertiesOf(connack).sessionExpiryInterval ?? 30).toBe(30);
  });
});

describe('the session expiry of CONNECT', () => {
  it('is four bytes, and the largest means that the session never ends [MQTT-3.1.2-23]', async () => {
    const clientId = unique('forever');
    const client = await peers.open();
    client.sendBytes(connectBytes({ properties: properties('11 ffffffff'), payload: text(clientId) }));
    await client.expect('connack');
    await client.vanish();
    const { client: again, connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
    await again.disconnect();
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`Response Information (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const informing = usePeers({ responseInformation: 'answers/%c' });

  async function responseInformation(asked: Fields): Promise<unknown> {
    const { connack } = await informing.connect({ clientId: 'asker', properties: asked });
    return propertiesOf(connack).responseInformation;
  }

  it('is sent to a client that asks for it, and to no other [MQTT-3.1.2-28]', async () => {
    expect(await responseInformation({ requestResponseInformation: true })).toBe('answers/asker');
    expect(await responseInformation({ requestResponseInformation: false })).toBeUndefined();
    expect(await responseInformation({})).toBeUndefined();
  });
});
