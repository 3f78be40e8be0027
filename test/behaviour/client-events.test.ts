import { type Authenticator, rulesAuthorizer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { unique } from '../support/unique.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';
import type { Message, TestClient } from './util/test-client.ts';

const NOT_AUTHORIZED = 0x87;

type Event = { readonly topic: string } & Readonly<Record<string, unknown>>;

const eventOf = ({ topic, payload }: Message): Event => ({ ...(JSON.parse(payload) as object), topic });

describe(withOptions('A backend'), NEEDS_OWN_DOOR, () => {
  const door = useDoor();

  async function backendFor(clientId: string): Promise<TestClient> {
    const backend = await door.connect();
    await backend.subscribe(`$SYS/brokers/+/clients/${clientId}/+`, { qos: 1 });
    return backend;
  }

  it('is told of a client that connects, and of one that sends DISCONNECT', async () => {
    const clientId = unique('c');
    const backend = await backendFor(clientId);
    const client = await door.connect({ clientId, keepalive: 30 });
    const connected = eventOf(await backend.receive());
    expect(connected).toMatchObject({
      topic: `$SYS/brokers/apus/clients/${clientId}/connected`,
      ...{ clientid: clientId, username: null, proto_name: 'MQTT', proto_ver: 5 },
      ...{ keepalive: 30, expiry_interval: 0, clean_start: true, connack: 0 },
    });
    await client.disconnect();
    expect(eventOf(await backend.receive())).toMatchObject({
      topic: `$SYS/brokers/apus/clients/${clientId}/disconnected`,
      ...{ clientid: clientId, reason: 'normal', connected_at: connected.connected_at },
    });
    await backend.expectNothing();
  });

  it('is told of a client that is lost, once', async () => {
    const clientId = unique('c');
    const backend = await backendFor(clientId);
    (await door.connect({ clientId })).raw.close();
    await backend.receive();
    expect(eventOf(await backend.receive())).toMatchObject({ reason: 'tcp_closed' });
    await backend.expectNothing();
  });

  it('is told of a take-over before the client that takes over', async () => {
    const clientId = unique('c');
    const backend = await backendFor(clientId);
    await door.resume(clientId);
    await door.resume(clientId);
    await door.connect({ clientId });
    const events: unknown[] = [];
    for (let index = 0; index < 5; index += 1) {
      const { topic, reason } = eventOf(await backend.receive());
      events.push(reason ?? topic.split('/').at(-1));
    }
    expect(events).toEqual(['connected', 'takenover', 'connected', 'discarded', 'connected']);
  });

  it('sees the client identifier as one level, for any characters in it', async () => {
    const clientId = `${unique('c')}/a+b#%`;
    const backend = await door.connect();
    await backend.subscribe('$SYS/brokers/apus/clients/+/connected');
    await door.connect({ clientId });
    const event = eventOf(await backend.receive());
    expect(event.clientid).toBe(clientId);
    expect(event.topic).toContain('%2Fa%2Bb%23%25/connected');
  });
});

const authenticator: Authenticator = {
  authenticate: ({ username = '' }) => ({
    tenant: 'default',
    name: username,
    rules: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
  }),
};

describe(withOptions('The topic of clients that connect and disconnect'), NEEDS_OWN_DOOR, () => {
  const door = useDoor({ authenticator, authorizer: rulesAuthorizer });

  it('needs a rule of its own to be read, and lets no client publish to it', async () => {
    const client = await door.connect({ username: 'ann', clientId: 'ann' });
    const topic = '$SYS/brokers/apus/clients/ann/connected';
    expect(await client.subscribe(['$SYS/brokers/+/clients/+/+', topic])).toEqual([
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
    ]);
    expect(await client.publish(topic, 'x', { qos: 1 })).toMatchObject({ reasonCode: NOT_AUTHORIZED });
  });
});
