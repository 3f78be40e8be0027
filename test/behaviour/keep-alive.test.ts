import { describe, expect, it } from 'vitest';
import { onlyAt } from '../support/only-at.ts';
import type { RawClient } from '../support/raw-client.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import {
  expectCloseWithoutPackets,
  expectDisconnect,
  expectMessage,
  propertiesOf,
  subscribe,
  usePeers,
} from './raw/peers.ts';

const peers = usePeers();

const NOT_COUNTED_AT_GATEWAY = onlyAt(
  'node',
  'API Gateway closes after ten idle minutes and knows no other Keep Alive',
);

/** Waits for one and a half seconds of the broker's clock: a silent client with Keep Alive 1 is closed then. */
async function untilASilentClientIsClosed(): Promise<void> {
  const { client } = await peers.connect({ keepalive: 1 });
  await client.expectClose();
}

describe('PINGREQ', () => {
  it('is answered with PINGRESP, each time and in order [MQTT-3.12.4-1]', async () => {
    const { client } = await peers.connect();
    client.sendBytes('c000 c000 c000');
    for (let count = 0; count < 3; count += 1) {
      expect(client.bytesOf(await client.expect('pingresp'))).toEqual(Buffer.from([0xd0, 0]));
    }
    await client.expectNothing();
  });

  it('is answered with any Keep Alive [MQTT-3.12.4-1]', async () => {
    for (const keepalive of [0, 1, 65_535]) {
      const { client } = await peers.connect({ keepalive });
      await client.expectNothing();
    }
  });
});

describe.concurrent('Keep Alive', NOT_COUNTED_AT_GATEWAY, () => {
  it('ends a silent connection after one and a half of its time, with 0x8D [MQTT-3.1.2-22]', async () => {
    const { client, connack } = await peers.connect({ keepalive: 1 });
    expect(propertiesOf(connack)).not.toHaveProperty('serverKeepAlive');
    await expectDisconnect(client, 0x8d);
  });

  it('ends a silent connection within the Maximum Packet Size of the client [MQTT-3.14.2-3] [MQTT-3.1.2-24]', async () => {
    const { client } = await peers.connect({ keepalive: 1, properties: { maximumPacketSize: 24 } });
    const disconnect = await expectDisconnect(client, 0x8d);
    expect(client.bytesOf(disconnect).length).toBeLessThanOrEqual(24);
  });

  it('has the client’s value when CONNACK has no Server Keep Alive [MQTT-3.2.2-22]', async () => {
    const closed: string[] = [];
    const silent = async (keepalive: number): Promise<void> => {
      const { client } = await peers.connect({ keepalive });
      await client.expectClose();
      closed.push(`after ${keepalive}`);
    };
    await Promise.all([silent(3), silent(1)]);
    expect(closed).toEqual(['after 1', 'after 3']);
  });

  it('of 0 never ends a connection [MQTT-3.1.2-22]', async () => {
    const { client } = await peers.connect({ keepalive: 0 });
    await untilASilentClientIsClosed();
    await client.expectNothing();
  });

  it('counts from the last packet of the client, whichever it is [MQTT-3.1.2-22]', async () => {
    const topic = unique('alive');
    const pinging = await peers.connect({ keepalive: 3 });
    const publishing = await peers.connect({ keepalive: 3 });
    const unsubscribing = await peers.connect({ keepalive: 3 });
    // One and a half seconds each, of which their Keep Alive has three.
    for (let count = 0; count < 4; count += 1) {
      await untilASilentClientIsClosed();
      await pinging.client.expectNothing();
      publishing.client.send({ cmd: 'publish', topic, payload: 'x', qos: 0 });
      unsubscribing.client.send({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: [topic] });
      await unsubscribing.client.expect('unsuback');
    }
    await publishing.client.expectNothing();
    await unsubscribing.client.expectNothing();
  });

  it('ends the connection as if the network had failed: the will is published [MQTT-3.1.2-22] [MQTT-3.1.2-8]', async () => {
    const topic = unique('silent');
    const watcher = await peers.subscriber(topic);
    await peers.connect({ keepalive: 1, will: { topic, payload: 'gone', qos: 0, retain: false } });
    await expectMessage(watcher, 'gone');
  });

  it('ends the connection as if the network had failed: the session stays [MQTT-3.1.2-22] [MQTT-3.1.2-23]', async () => {
    const session = { clientId: unique('silent'), properties: { sessionExpiryInterval: 60 } };
    const { client } = await peers.connect({ ...session, keepalive: 1 });
    await subscribe(client, unique('silent'), { qos: 1 });
    await client.expectClose();
    const { connack } = await peers.connect({ ...session, clean: false });
    expect(connack.sessionPresent).toBe(true);
  });

  it.each([3, 4] as const)(
    'ends a silent connection of protocol level %i without a packet [MQTT3-3.1.2-24]',
    async (protocolVersion) => {
      const { client } = await peers.connect({ protocolVersion, keepalive: 1 });
      await expectCloseWithoutPackets(client);
    },
  );
});

describe.skipIf(runningBrokerUrl !== undefined)(`Server Keep Alive (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const strict = usePeers({ serverKeepAliveSecondsMax: 1 });

  async function connect(keepalive: number): Promise<{ client: RawClient; serverKeepAlive: unknown }> {
    const { client, connack } = await strict.connect({ keepalive });
    return { client, serverKeepAlive: propertiesOf(connack).serverKeepAlive };
  }

  it(
    'is announced where the client asked for more, and holds [MQTT-3.2.2-21] [MQTT-3.1.2-22]',
    NOT_COUNTED_AT_GATEWAY,
    async () => {
      const { client, serverKeepAlive } = await connect(600);
      expect(serverKeepAlive).toBe(1);
      await expectDisconnect(client, 0x8d);
    },
  );

  it('is absent where the client asked for no more than that [MQTT-3.2.2-22]', async () => {
    const { serverKeepAlive } = await connect(1);
    expect(serverKeepAlive).toBeUndefined();
  });
});
