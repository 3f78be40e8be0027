import { describe, expect, it } from 'vitest';
import { LOSS_GRACE_SECONDS } from '../support/door.ts';
import { unique } from '../support/unique.ts';
import { brokerTime } from './raw/broker-time.ts';
import { connectBytes, control, properties, text } from './raw/hex.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  propertiesOf,
  publish,
  usePeers,
} from './raw/peers.ts';

const peers = usePeers();

/** A watcher of a topic, a client whose will goes there, and one whose will shows that nothing came before it. */
async function testament() {
  const topic = unique('farewell');
  const will = (payload: string) => ({ will: { topic, payload, qos: 0, retain: false } });
  const watcher = await peers.subscriber(topic);
  const { client } = await peers.connect(will('gone'));
  const marker = await peers.connect(will('marker'));
  return { topic, watcher, client, marker: marker.client };
}

describe('DISCONNECT from the client', () => {
  it.each([
    ['e0 00', 'without a reason code'],
    ['e0 01 00', 'without a property length'],
    ['e0 02 00 00', 'with both'],
    ['e0 07 00 05 1f 0002 6f6b', 'with a reason string'],
    ['e0 09 00 07 26 0001 61 0001 62', 'with a user property'],
  ])('of 0x00 (%s, %s) closes and discards the will [MQTT-3.14.4-3] [MQTT-3.14.4-2]', async (bytes) => {
    const { watcher, client, marker } = await testament();
    client.sendBytes(bytes);
    await expectCloseWithoutPackets(client);
    await marker.vanish();
    await expectMessage(watcher, 'marker');
  });

  it.each([
    ['e0 01 04', '0x04 Disconnect with Will Message'],
    ['e0 02 04 00', '0x04 with a property length'],
    ['e0 01 80', '0x80 Unspecified error'],
    ['e0 01 97', '0x97 Quota exceeded'],
  ])('%s, %s, closes and publishes the will [MQTT-3.1.2-8]', async (bytes) => {
    const { watcher, client } = await testament();
    client.sendBytes(bytes);
    await expectCloseWithoutPackets(client);
    await expectMessage(watcher, 'gone');
  });

  it('of 0x04 respects the Will Delay Interval [MQTT-3.1.2-8]', async () => {
    const { topic, watcher, marker } = await testament();
    const willDelayInterval = LOSS_GRACE_SECONDS + 1;
    const { client } = await peers.connect({
      properties: { sessionExpiryInterval: 60 },
      will: { topic, payload: 'delayed', qos: 0, retain: false, properties: { willDelayInterval } },
    });
    await client.disconnect({ reasonCode: 4 });
    await marker.vanish();
    await expectMessage(watcher, 'marker');
    await expectMessage(watcher, 'delayed');
  });

  it('is the last packet of the connection: later packets are not processed [MQTT-3.14.4-1]', async () => {
    const { topic, watcher, client, marker } = await testament();
    client.sendBytes(`e000 ${control('30', text(topic), '00', '78')}`);
    await client.expectClose();
    await marker.vanish();
    await expectMessage(watcher, 'marker');
  });

  it('comes after the packets sent before it: it loses no message [MQTT-4.3.1-1]', async () => {
    const { topic, watcher, client } = await testament();
    client.sendBytes(`${control('30', text(topic), '00', '78')} e000`);
    await client.expectClose();
    await expectMessage(watcher, 'x');
  });
});

describe.concurrent('the Session Expiry Interval of DISCONNECT', () => {
  it('of 0 ends the session with the connection [MQTT-4.1.0-2]', async () => {
    const clientId = unique('expiry');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await client.disconnect({ reasonCode: 0, properties: { sessionExpiryInterval: 0 } });
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
  });

  it('replaces the one of CONNECT: longer [MQTT-3.1.2-23]', async () => {
    const clientId = unique('expiry');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 1 } });
    await client.disconnect({ reasonCode: 0, properties: { sessionExpiryInterval: 60 } });
    await brokerTime(peers, 2);
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it('replaces the one of CONNECT: shorter [MQTT-4.1.0-2]', async () => {
    const clientId = unique('expiry');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await client.disconnect({ reasonCode: 0, properties: { sessionExpiryInterval: 1 } });
    await brokerTime(peers, 2);
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(false);
  });

  it('when absent, leaves the one of CONNECT [MQTT-3.1.2-23]', async () => {
    const clientId = unique('expiry');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    await client.disconnect();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it('other than 0 is a protocol error when CONNECT had 0 or none [MQTT-4.13.1-1]', async () => {
    for (const asked of [{}, { sessionExpiryInterval: 0 }]) {
      const { client } = await peers.connect({ properties: asked });
      client.sendBytes('e0 07 00 05 11 0000000a');
      await expectDisconnect(client, 0x82);
    }
  });

  it('of 0 is no error when CONNECT had none', async () => {
    const { client } = await peers.connect();
    client.sendBytes('e0 07 00 05 11 00000000');
    await expectCloseWithoutPackets(client);
  });

  it('that is a protocol error does not discard the will [MQTT-3.1.2-8]', async () => {
    const { watcher, client } = await testament();
    client.sendBytes('e0 07 00 05 11 0000000a');
    await client.expectClose();
    await expectMessage(watcher, 'gone');
  });
});

describe('DISCONNECT from the server', () => {
  it('follows a protocol error, has a reason code of its own and no session expiry [MQTT-3.14.2-1] [MQTT-3.14.2-2] [MQTT-4.13.1-1]', async () => {
    const { client } = await peers.connect({ properties: { sessionExpiryInterval: 60 } });
    client.sendBytes('20 03 00 00 00');
    const disconnect = await expectDisconnect(client, 0x82);
    expect(propertiesOf(disconnect)).not.toHaveProperty('sessionExpiryInterval');
  });

  it('is the last packet of the connection [MQTT-3.14.4-1] [MQTT-4.13.2-1]', async () => {
    const { client } = await peers.connect();
    client.sendBytes('20 03 00 00 00 c000');
    await expectDisconnect(client, 0x82);
    await expectCloseWithoutPackets(client);
  });

  it('is within the Maximum Packet Size of the client, without its explanations if need be [MQTT-3.14.2-3] [MQTT-3.14.2-4]', async () => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ properties: properties('27 00000018'), payload: text(unique('small')) }));
    expect((await client.expect('connack')).reasonCode).toBe(0);
    client.sendBytes('20 03 00 00 00');
    const disconnect = await expectDisconnect(client, 0x82);
    expect(client.bytesOf(disconnect).length).toBeLessThanOrEqual(24);
  });

  it('is never sent before CONNACK [MQTT-3.14.0-1]', async () => {
    const client = await peers.open();
    client.sendBytes(connectBytes({ flags: '03' }));
    await client.expectClose();
    const answer = await client.next().catch(() => undefined);
    expect(['connack', undefined]).toContain(answer?.cmd);
  });

  it('does not end the session of a client whose session outlives its connection [MQTT-3.1.2-23]', async () => {
    const clientId = unique('faulty');
    const { client } = await peers.connect({ clientId, properties: { sessionExpiryInterval: 60 } });
    client.sendBytes('20 03 00 00 00');
    await client.expectClose();
    const { connack } = await peers.connect({ clientId, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });
});

describe('a connection that closed', () => {
  it('gets no more messages, and the next subscriber is not kept waiting [MQTT-4.13.2-1]', async () => {
    const topic = unique('closed');
    const gone = await peers.subscriber(topic);
    const staying = await peers.subscriber(topic);
    await gone.vanish();
    await publish((await peers.connect()).client, { topic, payload: 'x' });
    await expectMessage(staying, 'x');
  });
});
