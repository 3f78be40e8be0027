import type { Authenticator, Identity } from '@apus/broker';
import { rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { doorUnderTest } from '../support/door.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import {
  expectDisconnect,
  expectMessage,
  type Fields,
  propertiesOf,
  publish,
  subscribe,
  usePeers,
} from './raw/peers.ts';
import { elapse } from './util/time.ts';

const EVERYTHING = rulesOfLists(['#'], ['#']);

/** Changes of a test to a user between two connections. */
const changes = new Map<string, Partial<Identity>>();

/** Accepts every client under its user name; without one a client is anonymous. */
const byName: Authenticator = {
  authenticate: ({ username }) => ({
    tenant: 'default',
    name: username ?? '',
    ...(username !== undefined && { rules: EVERYTHING }),
    ...changes.get(username ?? ''),
  }),
};

const stays = { clean: false, properties: { sessionExpiryInterval: 60 } };

describe.skipIf(runningBrokerUrl !== undefined)(`a session's owner (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator: byName, authorizer: rulesAuthorizer });
  const connect = (username: string, clientId: string, fields: Fields = {}) =>
    peers.connect({ username, clientId, ...fields });

  it('another user does not get the messages that wait for it, with Clean Start 0 [SEC-OWNER-1]', async () => {
    const [ada, topic] = [unique('ada'), unique('t')];
    changes.set('mallory', { clientIds: ['+'] });
    const owner = await connect(ada, ada, stays);
    await subscribe(owner.client, topic, { qos: 1 });
    await owner.client.disconnect();
    const publisher = await connect('bob', unique('bob'));
    await publish(publisher.client, { topic, payload: 'secret', qos: 1 });
    const intruder = await connect('mallory', ada, stays);
    expect(intruder.connack).toMatchObject({ reasonCode: 0x87, sessionPresent: false });
    await intruder.client.expectClose();
    const back = await connect(ada, ada, stays);
    expect(back.connack.sessionPresent).toBe(true);
    await expectMessage(back.client, 'secret');
  });

  it.each(['$rule/orders', '$bridge/plant'])(
    'a client has neither the name nor the identifier of a rule or a bridge: %s [SEC-OWNER-5]',
    async (own) => {
      changes.set('mallory', { clientIds: ['+'] });
      for (const [username, clientId] of [
        [own, own],
        ['mallory', own],
        [own, unique('c')],
        [own, ''],
      ] as const) {
        const { client, connack } = await connect(username, clientId);
        expect(connack).toMatchObject({ reasonCode: 0x85 });
        await client.expectClose();
      }
      const old = await connect('mallory', own, { protocolVersion: 4, properties: undefined });
      expect(old.connack).toMatchObject({ returnCode: 2 });
    },
  );

  it('another user does not kick it out, nor discard it with Clean Start 1 [SEC-OWNER-2]', async () => {
    const [ada, topic] = [unique('ada'), unique('t')];
    changes.set('mallory', { clientIds: ['+'] });
    const owner = await connect(ada, ada, stays);
    await subscribe(owner.client, topic);
    for (const fields of [stays, { clean: true }]) {
      expect((await connect('mallory', ada, fields)).connack.reasonCode).toBe(0x87);
    }
    await publish(owner.client, { topic, payload: 'still here' });
    await expectMessage(owner.client, 'still here');
  });

  it('another user is refused with return code 5 in MQTT 3.1.1, and an anonymous client too [SEC-OWNER-1]', async () => {
    const ada = unique('ada');
    changes.set('mallory', { clientIds: ['+'] });
    await connect(ada, ada, stays);
    const old = await connect('mallory', ada, { protocolVersion: 4 });
    expect(old.connack.returnCode).toBe(5);
    expect((await peers.connect({ clientId: ada })).connack.reasonCode).toBe(0x87);
  });

  it('takes over its own connection from another place [MQTT-3.1.4-3]', async () => {
    const ada = unique('ada');
    const first = await connect(ada, ada, stays);
    const second = await connect(ada, ada, stays);
    expect(second.connack).toMatchObject({ reasonCode: 0, sessionPresent: true });
    await expectDisconnect(first.client, 0x8e);
  });

  it('keeps a session under its own name and NAME-…, and no other: 0x85, and 2 in MQTT 3.1.1 [SEC-OWNER-3]', async () => {
    const ada = unique('ada');
    for (const clientId of [ada, `${ada}-phone`]) {
      expect((await connect(ada, clientId, stays)).connack.reasonCode).toBe(0);
    }
    const other = unique('other');
    const refused = await connect(ada, other, stays);
    expect(refused.connack.reasonCode).toBe(0x85);
    expect(propertiesOf(refused.connack).reasonString).toContain(`${ada}-…`);
    const old = await connect(ada, other, { protocolVersion: 4, clean: false });
    expect(old.connack.returnCode).toBe(2);
    expect((await connect(ada, other)).connack.reasonCode, 'it may end with its connection').toBe(0);
  });

  it('a client identifier that the patterns of its identity do not match is refused with 0x85, and 2 [SEC-OWNER-3]', async () => {
    const ada = unique('ada');
    changes.set(ada, { clientIds: ['dev-+', '%u'] });
    expect((await connect(ada, `dev-${ada}`, stays)).connack.reasonCode).toBe(0);
    expect((await connect(ada, ada, stays)).connack.reasonCode).toBe(0);
    for (const clientId of ['dev-', unique('other'), `${ada}-phone`]) {
      expect((await connect(ada, clientId)).connack.reasonCode, clientId).toBe(0x85);
      expect((await connect(ada, clientId, { protocolVersion: 4 })).connack.returnCode).toBe(2);
    }
  });

  it('takes its client identifier back from another user, who is sent 0x8E [SEC-OWNER-4]', async () => {
    const ada = unique('ada');
    const squatter = await connect('mallet', ada);
    expect(squatter.connack.reasonCode).toBe(0);
    const owner = await connect(ada, ada, stays);
    expect(owner.connack).toMatchObject({ reasonCode: 0, sessionPresent: false });
    await expectDisconnect(squatter.client, 0x8e);
    expect((await connect('mallet', ada)).connack.reasonCode).toBe(0x87);
  });

  it('is assigned a client identifier of its own [MQTT-3.1.3-6] [MQTT-3.2.2-16]', async () => {
    const ada = unique('ada');
    const { client, connack } = await connect(ada, '', { properties: stays.properties });
    const assigned = String(propertiesOf(connack).assignedClientIdentifier);
    expect(assigned).toMatch(new RegExp(`^${ada}-.{8,}$`));
    await client.disconnect();
    expect((await connect(ada, assigned, stays)).connack.sessionPresent).toBe(true);
    changes.set(ada, { clientIds: ['only-this'] });
    expect((await connect(ada, '')).connack.reasonCode).toBe(0x85);
  });

  it('the will of a user whose client identifier its owner takes back is published', async () => {
    const [ada, topic] = [unique('ada'), unique('t')];
    const watcher = await connect('bob', unique('bob'));
    await subscribe(watcher.client, topic);
    await connect('mallet', ada, { will: { topic, payload: 'gone', qos: 0, retain: false } });
    await connect(ada, ada);
    await expectMessage(watcher.client, 'gone');
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`rules that change (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator: byName, authorizer: rulesAuthorizer });
  const connect = (username: string, clientId: string, fields: Fields = {}) =>
    peers.connect({ username, clientId, ...fields });

  it('end the subscriptions of a resumed session that are not allowed any more, and drop the messages that waited for them [SEC-RULES-4]', async () => {
    const [ada, closed, open] = [unique('ada'), unique('closed'), unique('open')];
    const owner = await connect(ada, ada, stays);
    await subscribe(owner.client, closed, { qos: 1 });
    await subscribe(owner.client, open, { qos: 1 });
    await owner.client.disconnect();
    const publisher = await connect('bob', unique('bob'));
    for (const topic of [closed, open, closed])
      await publish(publisher.client, { topic, payload: topic, qos: 1 });
    changes.set(ada, { rules: rulesOfLists([], [open]) });
    const back = await connect(ada, ada, stays);
    expect(back.connack.sessionPresent).toBe(true);
    await expectMessage(back.client, open);
    for (const topic of [closed, open])
      await publish(publisher.client, { topic, payload: `${topic} live`, qos: 1 });
    await expectMessage(back.client, `${open} live`);
    await back.client.expectNothing();
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`a will that fires (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const forbidden = new Set<string>();
  const peers = usePeers({
    authenticator: byName,
    authorizer: {
      mayPublish: (_identity, _clientId, topicName) => !forbidden.has(topicName),
      maySubscribe: () => true,
    },
  });

  it('is not published where the rules do not allow it any more [SEC-RULES-5]', async () => {
    const topic = unique('t');
    const watcher = await peers.connect();
    await subscribe(watcher.client, `${topic}/#`);
    const leave = async (level: string) => {
      const will = { topic: `${topic}/${level}`, payload: level, qos: 0, retain: false };
      const { client } = await peers.connect({ will });
      return client;
    };
    const [first, marker] = [await leave('forbidden'), await leave('marker')];
    forbidden.add(`${topic}/forbidden`);
    await first.vanish();
    await watcher.client.expectNothing();
    await marker.vanish();
    await expectMessage(watcher.client, 'marker');
    await watcher.client.expectNothing();
  });
});

describe.skipIf(runningBrokerUrl !== undefined)(`an identity that expires (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator: byName, authorizer: rulesAuthorizer });

  /** A client whose identity ends so soon. */
  async function mortal(fields: Fields = {}) {
    const name = unique('mortal');
    changes.set(name, { expiresAtMs: Date.now() + 1_000 });
    return { name, ...(await peers.connect({ username: name, clientId: name, ...fields })) };
  }

  it('ends its connection with 0x87, and no packet is accepted afterwards [SEC-EXPIRY-1]', async () => {
    const topic = unique('t');
    const watcher = await peers.connect({ username: 'bob', clientId: unique('bob') });
    await subscribe(watcher.client, topic);
    const { client } = await mortal();
    await elapse(1.2);
    if (doorUnderTest === 'gateway') client.send({ cmd: 'publish', topic, payload: 'late', qos: 0 });
    await expectDisconnect(client, 0x87);
    await watcher.client.expectNothing();
  });

  it('is sent no further message, not even while its socket is open [SEC-EXPIRY-2]', async () => {
    const topic = unique('t');
    const { client } = await mortal();
    await subscribe(client, topic, { qos: 1 });
    const publisher = await peers.connect({ username: 'bob', clientId: unique('bob') });
    await publish(publisher.client, { topic, payload: 'in time', qos: 1 });
    await expectMessage(client, 'in time');
    await elapse(1.2);
    await publish(publisher.client, { topic, payload: 'late', qos: 1 });
    if (doorUnderTest === 'gateway') client.send({ cmd: 'pingreq' });
    await expectDisconnect(client, 0x87);
  });

  it('has its messages kept for a session that outlives the connection', async () => {
    const topic = unique('t');
    const { client, name } = await mortal(stays);
    await subscribe(client, topic, { qos: 1 });
    await elapse(1.2);
    const publisher = await peers.connect({ username: 'bob', clientId: unique('bob') });
    await publish(publisher.client, { topic, payload: 'for later', qos: 1 });
    changes.delete(name);
    const back = await peers.connect({ username: name, clientId: name, ...stays });
    expect(back.connack.sessionPresent).toBe(true);
    await expectMessage(back.client, 'for later');
  });
});
