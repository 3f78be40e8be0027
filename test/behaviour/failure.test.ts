import type { Authenticator, Authorizer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, openDoor, runningBrokerUrl } from '../support/start-door.ts';
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

const NO_PACKET_AT_GATEWAY = onlyAt(
  'node',
  'API Gateway answers a failed handler with JSON, and the client closes',
);
const NEVER_STOPS_AT_GATEWAY = onlyAt('node', 'a function has no end that it could announce');

const failingOnPurpose: Authenticator & Authorizer = {
  authenticate({ username }) {
    if (username === 'fail') throw new Error('the directory of users is away');
    return { tenant: 'default', name: username ?? '' };
  },
  mayPublish(_identity, _clientId, topic) {
    if (topic === 'fail') return Promise.reject(new Error('the rules are away'));
    return true;
  },
  maySubscribe: () => true,
};

ownDoor(`a failure inside the server (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({
    authenticator: failingOnPurpose,
    authorizer: failingOnPurpose,
    logSink: () => {},
  });

  it(
    'while it handles a packet closes that connection: MQTT 5.0 is told why [MQTT-4.13.1-1]',
    NO_PACKET_AT_GATEWAY,
    async () => {
      const { client } = await peers.connect();
      client.send({ cmd: 'publish', topic: 'fail', payload: 'x', qos: 1, messageId: 1 });
      const disconnect = await client.expect('disconnect');
      expect(disconnect.reasonCode).toBeGreaterThanOrEqual(0x80);
      await client.expectClose();
    },
  );

  it('while it handles a packet closes that connection: MQTT 3.1.1 without a packet [MQTT3-4.8.0-2]', async () => {
    const { client } = await peers.connect({ protocolVersion: 4 });
    client.send({ cmd: 'publish', topic: 'fail', payload: 'x', qos: 1, messageId: 1 });
    await expectCloseWithoutPackets(client);
  });

  it('while it handles CONNECT lets no client in [MQTT-3.1.4-2]', async () => {
    const client = await peers.open();
    client.send({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: true,
      clientId: unique('fail'),
      keepalive: 0,
      username: 'fail',
    });
    await client.expectClose();
    const answer = await client.next().catch(() => undefined);
    if (answer === undefined) return;
    expect(answer.cmd).toBe('connack');
    expect(answer.reasonCode).toBeGreaterThanOrEqual(0x80);
  });

  it('publishes the will of that connection, and disturbs no other [MQTT-3.1.2-8]', async () => {
    const topic = unique('survivor');
    const { client: survivor } = await peers.connect();
    await subscribe(survivor, topic);
    const { client } = await peers.connect({ will: { topic, payload: 'gone', qos: 0, retain: false } });
    client.send({ cmd: 'publish', topic: 'fail', payload: 'x', qos: 1, messageId: 1 });
    await client.expectClose();
    await expectMessage(survivor, 'gone');
    await publish((await peers.connect()).client, { topic, payload: 'x' });
    await expectMessage(survivor, 'x');
  });
});

ownDoor(`a server that stops (${OPTIONS_NEED_OUR_DOOR})`, NEVER_STOPS_AT_GATEWAY, () => {
  it('sends DISCONNECT 0x8B to MQTT 5.0, and closes MQTT 3.1.1 [MQTT-3.14.2-1] [MQTT-4.13.2-1]', async () => {
    const door = await openDoor();
    const modern = await RawClient.connect(door.url);
    const old = await RawClient.connect(door.url, { protocolVersion: 4 });
    const stopped = door.stop();
    await expectDisconnect(modern.client, 0x8b);
    await expectCloseWithoutPackets(old.client);
    await stopped;
  });

  it('sends a DISCONNECT within the Maximum Packet Size of the client [MQTT-3.14.2-3] [MQTT-3.1.2-24]', async () => {
    const door = await openDoor();
    const { client } = await RawClient.connect(door.url, {
      clientId: 'small',
      properties: { maximumPacketSize: 24 },
    });
    const stopped = door.stop();
    const disconnect = await expectDisconnect(client, 0x8b);
    expect(client.bytesOf(disconnect).length).toBeLessThanOrEqual(24);
    await stopped;
  });
});
