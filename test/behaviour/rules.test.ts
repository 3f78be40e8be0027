import { type Authenticator, type Rule, rulesAuthorizer } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { unique } from '../support/unique.ts';
import { expectMessage, type Fields, publish, subscribe, usePeers } from './raw/peers.ts';

const NOT_AUTHORIZED = 0x87;
const NO_MATCHING_SUBSCRIBERS = 0x10;

/** The rights of each name of these tests. */
const RULES: Readonly<Record<string, readonly Rule[]>> = {
  admin: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
  ada: [
    { effect: 'deny', action: 'all', topicFilters: ['rooms/+/secret', '%u/private/#'] },
    { effect: 'allow', action: 'all', topicFilters: ['rooms/#', '%u/#'] },
    { effect: 'deny', action: 'all', topicFilters: ['rooms/late'] },
  ],
  conditions: [
    { effect: 'deny', action: 'publish', topicFilters: ['#'], retain: true },
    { effect: 'deny', action: 'all', topicFilters: ['calm/#'], qos: [2] },
    { effect: 'allow', action: 'all', topicFilters: ['calm/#'] },
  ],
  worker: [{ effect: 'allow', action: 'subscribe', topicFilters: ['jobs/#'], share: ['workers'] }],
  loner: [{ effect: 'allow', action: 'subscribe', topicFilters: ['jobs/#'], share: false }],
  device: [
    { effect: 'deny', action: 'all', topicFilters: ['dev/%c/locked'] },
    { effect: 'allow', action: 'all', topicFilters: ['dev/%c/#'] },
  ],
  exact: [{ effect: 'allow', action: 'subscribe', topicFilters: ['calm/#'], qos: [2] }],
  literal: [{ effect: 'allow', action: 'subscribe', topicFilters: ['eq news/#'] }],
};

/** Believes every name. */
const authenticator: Authenticator = {
  authenticate: ({ username = '' }) => ({ tenant: 'default', name: username, rules: RULES[username] ?? [] }),
};

describe.skipIf(runningBrokerUrl !== undefined)(`rules (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const peers = usePeers({ authenticator, authorizer: rulesAuthorizer });

  const clientOf = async (username: string, fields: Fields = {}) => {
    const { client, connack } = await peers.connect({
      username,
      clientId: `${username}-${unique('c')}`,
      ...fields,
    });
    expect(connack.reasonCode ?? connack.returnCode).toBe(0);
    return client;
  };

  /** The reason codes of PUBACK, or of PUBREC and then PUBCOMP, for a message of each kind. */
  async function answersTo(username: string, messages: readonly Fields[]): Promise<unknown[]> {
    const client = await clientOf(username);
    const codes: unknown[] = [];
    for (const [index, message] of messages.entries()) {
      const messageId = index + 1;
      client.send({ cmd: 'publish', payload: 'x', qos: 1, retain: false, dup: false, messageId, ...message });
      codes.push((await client.expect(message.qos === 2 ? 'pubrec' : 'puback')).reasonCode ?? 0);
    }
    return codes;
  }

  async function grantsTo(
    username: string,
    requests: readonly Fields[],
    protocolVersion = 5,
  ): Promise<unknown> {
    const client = await clientOf(username, { protocolVersion });
    const subscriptions = requests.map((request) => ({ qos: 0, nl: false, rap: false, rh: 0, ...request }));
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    return (await client.expect('suback')).granted;
  }

  it('are asked in their order for a PUBLISH, and the first that applies decides', async () => {
    const topics = ['rooms/1', 'rooms/1/secret', 'rooms/late', 'ada/x', 'ada/private/x', 'bob/x', 'else'];
    const answers = await answersTo(
      'ada',
      topics.map((topic) => ({ topic })),
    );
    expect(answers).toEqual([
      NO_MATCHING_SUBSCRIBERS,
      NOT_AUTHORIZED,
      NO_MATCHING_SUBSCRIBERS,
      NO_MATCHING_SUBSCRIBERS,
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
    ]);
  });

  it('that deny a topic refuse every filter that would bring it, and the rest of the SUBSCRIBE is granted', async () => {
    const requests = [
      'rooms/1',
      'rooms/1/secret',
      'rooms/+/secret',
      'rooms/#',
      'rooms/+/+',
      '+/1/secret',
      '#',
    ];
    const granted = [0, ...requests.slice(1).map(() => NOT_AUTHORIZED)];
    expect(
      await grantsTo(
        'ada',
        requests.map((topic) => ({ topic })),
      ),
    ).toEqual(granted);
    expect(
      await grantsTo(
        'ada',
        requests.map((topic) => ({ topic })),
        4,
      ),
    ).toEqual(granted.map((code) => (code === 0 ? 0 : 0x80)));
  });

  it('that deny a topic keep it from a client that asks for all around it [SEC-RULES-1]', async () => {
    const spy = await clientOf('ada');
    for (const filter of ['rooms/#', 'rooms/+/+', 'rooms/+/#', 'rooms/9/+', 'rooms/+'])
      await subscribe(spy, filter, { qos: 0 });
    const admin = await clientOf('admin');
    await publish(admin, { topic: 'rooms/9/secret', payload: 'secret', qos: 1 });
    await publish(admin, { topic: 'rooms/9', payload: 'open', qos: 1 });
    await expectMessage(spy, 'open');
    await spy.expectNothing();
  });

  it('may ask for the QoS of a message and of a subscription', async () => {
    const at = (qos: number) => ({ topic: 'calm/1', qos });
    expect(await answersTo('conditions', [at(1), at(2)])).toEqual([NO_MATCHING_SUBSCRIBERS, NOT_AUTHORIZED]);
    expect(await grantsTo('conditions', [at(0), at(1), at(2)])).toEqual([0, 1, NOT_AUTHORIZED]);
  });

  it('may ask for RETAIN: a refused message is not retained', async () => {
    const topic = `calm/${unique('retained')}`;
    expect(await answersTo('conditions', [{ topic, retain: true }, { topic }])).toEqual([
      NOT_AUTHORIZED,
      NO_MATCHING_SUBSCRIBERS,
    ]);
    const admin = await clientOf('admin');
    await subscribe(admin, topic);
    await admin.expectNothing();
  });

  it('may ask for the share group', async () => {
    const requests = ['jobs/1', '$share/workers/jobs/1', '$share/others/jobs/1'].map((topic) => ({ topic }));
    expect(await grantsTo('worker', requests)).toEqual([NOT_AUTHORIZED, 0, NOT_AUTHORIZED]);
    expect(await grantsTo('loner', requests)).toEqual([0, NOT_AUTHORIZED, NOT_AUTHORIZED]);
  });

  it('may allow an exact filter, whose messages are delivered', async () => {
    expect(await grantsTo('literal', [{ topic: 'news/x' }, { topic: 'news/+' }])).toEqual([
      NOT_AUTHORIZED,
      NOT_AUTHORIZED,
    ]);
    const reader = await clientOf('literal');
    expect(await subscribe(reader, 'news/#', { qos: 1 })).toBe(1);
    await publish(await clientOf('admin'), { topic: 'news/today', payload: 'x', qos: 1 });
    await expectMessage(reader, 'x');
  });

  it('with %c restrict: a client that takes the name of another for its own gets nothing [SEC-RULES-2]', async () => {
    const [own, others] = [`device-${unique('c')}`, unique('victim')];
    const honest = await clientOf('device', { clientId: own });
    expect(await subscribe(honest, `dev/${own}/+/x`)).toBe(0);
    expect(await subscribe(honest, `dev/${own}/#`)).toBe(NOT_AUTHORIZED);
    expect(await subscribe(honest, `dev/${others}/+/x`)).toBe(NOT_AUTHORIZED);
    const thief = await clientOf('device', { clientId: others });
    expect(await subscribe(thief, `dev/${others}/+/x`)).toBe(NOT_AUTHORIZED);
    thief.send({ cmd: 'publish', topic: `dev/${others}/a/x`, payload: 'x', qos: 1, messageId: 2 });
    expect((await thief.expect('puback')).reasonCode).toBe(NOT_AUTHORIZED);
  });

  it.each([
    ['that ask for the QoS of the subscription', 'exact', 'calm/#', 'calm/1'],
    ['that allow a filter to the letter', 'literal', 'news/#', 'news/1'],
  ])('%s let in what has waited for their client', async (_, username, filter, topic) => {
    const connect = { clientId: `${username}-${unique('away')}`, properties: { sessionExpiryInterval: 60 } };
    const away = await clientOf(username, connect);
    expect(await subscribe(away, filter, { qos: 2 })).toBe(2);
    await away.disconnect();
    await publish(await clientOf('admin'), { topic, payload: 'waited', qos: 1 });
    const back = await clientOf(username, { ...connect, clean: false });
    await expectMessage(back, 'waited');
  });

  it.each([
    ['an allowed topic', 'calm/will', {}, 0],
    ['RETAIN, which is denied', 'calm/will', { retain: true }, NOT_AUTHORIZED],
    ['a QoS that is denied', 'calm/will', { qos: 2 }, NOT_AUTHORIZED],
    ['a topic that is not allowed', 'else', {}, NOT_AUTHORIZED],
  ])('are asked for a will, with its conditions: %s [MQTT-3.1.4-2]', async (_, topic, fields, expected) => {
    const will = { topic, payload: 'gone', qos: 0, retain: false, ...fields };
    const connect = { username: 'conditions', clientId: `conditions-${unique('c')}`, will };
    expect((await peers.connect(connect)).connack.reasonCode).toBe(expected);
    const { connack } = await peers.connect({ ...connect, protocolVersion: 4 });
    expect(connack.returnCode).toBe(expected === 0 ? 0 : 5);
  });
});
