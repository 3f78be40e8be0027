import { describe, expect, it } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { unique } from '../support/unique.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  propertiesOf,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const peers = usePeers();

/** How many are left at the gateway door is told in test/gateway. */
const CONNACK_FIRST_AT_NODE = onlyAt(
  'node',
  'a client that is taken over before its reply has left is closed without a CONNACK',
);

const staying = { properties: { sessionExpiryInterval: 60 } };

describe('a second connection with the same client identifier', () => {
  it('takes over: the first gets DISCONNECT 0x8E and is closed [MQTT-3.1.4-3] [MQTT-3.14.2-2]', async () => {
    const clientId = unique('same');
    const first = await peers.connect({ clientId, ...staying });
    const second = await peers.connect({ clientId, clean: false, ...staying });
    expect(second.connack.reasonCode).toBe(0);
    const disconnect = await expectDisconnect(first.client, 0x8e);
    expect(propertiesOf(disconnect)).not.toHaveProperty('sessionExpiryInterval');
    await second.client.expectNothing();
  });

  it('sends a DISCONNECT within the Maximum Packet Size of the first [MQTT-3.14.2-3] [MQTT-3.1.2-24]', async () => {
    const clientId = unique('same');
    const first = await peers.connect({ clientId, properties: { maximumPacketSize: 24 } });
    await peers.connect({ clientId });
    const disconnect = await expectDisconnect(first.client, 0x8e);
    expect(first.client.bytesOf(disconnect).length).toBeLessThanOrEqual(24);
  });

  it('goes on with the session when Clean Start is 0 [MQTT-3.1.4-4] [MQTT-3.1.2-5]', async () => {
    const clientId = unique('same');
    const topic = unique('same');
    const first = await peers.connect({ clientId, ...staying });
    await subscribe(first.client, topic, { qos: 1 });
    const second = await peers.connect({ clientId, clean: false, ...staying });
    expect(second.connack.sessionPresent).toBe(true);
    await publish((await peers.connect()).client, { topic, payload: 'x', qos: 1 });
    await expectMessage(second.client, 'x');
  });

  it('gets the unacknowledged messages of the first, with DUP and the same packet identifier [MQTT-4.4.0-1] [MQTT-3.3.1-1]', async () => {
    const clientId = unique('same');
    const topic = unique('same');
    const first = await peers.connect({ clientId, ...staying });
    await subscribe(first.client, topic, { qos: 1 });
    await publish((await peers.connect()).client, { topic, payload: 'x', qos: 1 });
    const unacknowledged = await expectMessage(first.client, 'x');
    const second = await peers.connect({ clientId, clean: false, ...staying });
    const again = await expectMessage(second.client, 'x');
    expect(again.messageId).toBe(unacknowledged.messageId);
    expect(again.dup).toBe(true);
  });

  it('starts anew when Clean Start is 1 [MQTT-3.1.4-4] [MQTT-3.1.2-4] [MQTT-3.2.2-2]', async () => {
    const clientId = unique('same');
    const topic = unique('same');
    const first = await peers.connect({ clientId, ...staying });
    await subscribe(first.client, topic, { qos: 1 });
    const second = await peers.connect({ clientId, clean: true, ...staying });
    expect(second.connack.sessionPresent).toBe(false);
    await publish((await peers.connect()).client, { topic, payload: 'x', qos: 1 });
    await second.client.expectNothing();
  });

  it('finds no session when the first ended with its connection [MQTT-3.2.2-3] [MQTT-4.1.0-2]', async () => {
    const clientId = unique('same');
    const first = await peers.connect({ clientId });
    await subscribe(first.client, unique('same'));
    const second = await peers.connect({ clientId, clean: false });
    expect(second.connack.sessionPresent).toBe(false);
    await first.client.expectClose();
  });

  it('leaves one connection of many that come at once [MQTT-3.1.4-3]', CONNACK_FIRST_AT_NODE, async () => {
    const clientId = unique('crowd');
    const crowd = await Promise.all(Array.from({ length: 8 }, () => peers.connect({ clientId })));
    const survivors: string[] = [];
    for (const [index, { client }] of crowd.entries()) {
      client.send({ cmd: 'pingreq' });
      const answer = await client.next().catch(() => ({ cmd: 'closed' }));
      if (answer.cmd === 'pingresp') survivors.push(`client ${index}`);
    }
    expect(survivors).toHaveLength(1);
  });

  it('of another version takes over too: MQTT 3.1.1 knows no DISCONNECT from the server [MQTT3-3.1.4-2]', async () => {
    const clientId = unique('mixed');
    const old = await peers.connect({ clientId, protocolVersion: 4 });
    const { client } = await peers.connect({ clientId });
    await expectCloseWithoutPackets(old.client);
    await peers.connect({ clientId, protocolVersion: 4 });
    await expectDisconnect(client, 0x8e);
  });

  it('does not disturb a connection with another identifier [MQTT-3.1.4-3]', async () => {
    const clientId = unique('same');
    const bystander = await peers.connect({ clientId: `${clientId}2` });
    const first = await peers.connect({ clientId });
    await peers.connect({ clientId });
    await first.client.expectClose();
    await bystander.client.expectNothing();
  });
});

describe('the will of a connection that is taken over', () => {
  const lastWill = (topic: string, willDelayInterval: number, payload = 'gone') => ({
    will: { topic, payload, qos: 0, retain: false, properties: { willDelayInterval } },
  });

  it('is published when it has no delay [MQTT-3.1.2-8]', async () => {
    const clientId = unique('heir');
    const topic = unique('heir');
    const watcher = await peers.subscriber(topic);
    await peers.connect({ clientId, ...staying, ...lastWill(topic, 0) });
    await peers.connect({ clientId, clean: false, ...staying });
    await expectMessage(watcher, 'gone');
  });

  it('is not published when the session goes on before the delay is over [MQTT-3.1.3-9]', async () => {
    const clientId = unique('heir');
    const topic = unique('heir');
    const watcher = await peers.subscriber(topic);
    const first = await peers.connect({ clientId, ...staying, ...lastWill(topic, 1) });
    await peers.connect({ clientId, clean: false, ...staying });
    await first.client.expectClose();
    const marker = await peers.connect({ ...staying, ...lastWill(topic, 2, 'marker') });
    await marker.client.vanish();
    await expectMessage(watcher, 'marker');
  });

  it('is replaced by the will of the new connection [MQTT-3.1.2-7]', async () => {
    const clientId = unique('heir');
    const topic = unique('heir');
    const watcher = await peers.subscriber(topic);
    await peers.connect({ clientId, ...staying, ...lastWill(topic, 600) });
    const heir = await peers.connect({
      clientId,
      clean: false,
      ...staying,
      will: { topic, payload: 'the heir is gone', qos: 0, retain: false },
    });
    await heir.client.vanish();
    await expectMessage(watcher, 'the heir is gone');
    await watcher.expectNothing();
  });
});
