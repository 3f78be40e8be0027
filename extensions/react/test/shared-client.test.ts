import { type RunningDoors, startDoors } from '@apus/cli';
import { connect as connectInTextFrames } from '@apus/client';
import { resume } from '@apus/client/resume';
import mqtt, { type IClientOptions, type MqttClient, type Packet } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { unique } from '../../../test/support/unique.ts';
import { SharedClient } from '../src/shared-client.ts';

let node: RunningDoors;

beforeAll(async () => {
  const streams = [{ name: 'rooms', topicFilter: 'rooms/#', snapshot: true }];
  node = await startDoors({ port: 0, gatewayPort: 0, logLevel: 'silent', streams });
});

afterAll(async () => await node?.stop());

interface World {
  readonly shared: SharedClient;
  /** Every client that was made, with the packets that it has sent. */
  readonly clients: MqttClient[];
  readonly sent: Packet['cmd'][];
}

const NODE_DOOR = (options: IClientOptions) => mqtt.connect(node.url, options);
const GATEWAY_DOOR = (options: IClientOptions) =>
  connectInTextFrames(mqtt, node.gateway?.url ?? '', options, { random: () => 0 });

function world(open = NODE_DOOR, options: IClientOptions = {}): World {
  const clients: MqttClient[] = [];
  const sent: Packet['cmd'][] = [];
  const shared = new SharedClient(() => {
    const client = open({ protocolVersion: 5, reconnectPeriod: 50, ...options });
    client.on('packetsend', ({ cmd }) => sent.push(cmd));
    clients.push(client);
    return client;
  });
  onTestFinished(() => {
    for (const client of clients) client.end(true);
  });
  return { shared, clients, sent };
}

const countOf = ({ sent }: World, cmd: string) => sent.filter((each) => each === cmd).length;

async function publisher(): Promise<MqttClient> {
  const client = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
  onTestFinished(() => void client.end(true));
  return client;
}

const granted = (shared: SharedClient, filter: string) =>
  expect.poll(() => shared.subscription(filter)?.shown.value.isSubscribed).toBe(true);

const texts = (shared: SharedClient, filter: string) =>
  shared.subscription(filter)?.shown.value.messages.map(({ text }) => text);

describe.each([
  ['node', NODE_DOOR],
  ['gateway', GATEWAY_DOOR],
] as const)('a shared client at the %s door', (_door, open) => {
  it('subscribes once for all components that share a filter, and ends with the last', async () => {
    const each = world(open);
    const { shared, clients } = each;
    const topic = unique('shared');
    const [first, second] = [
      shared.acquire(topic, {}, { messagesMax: 10 }),
      shared.acquire(topic, {}, { messagesMax: 10 }),
    ];
    await granted(shared, topic);
    await shared.publish(topic, 'one');
    await expect.poll(() => texts(shared, topic)).toEqual(['one']);
    first();
    await shared.publish(topic, 'two');
    await expect.poll(() => texts(shared, topic)).toEqual(['one', 'two']);
    second();
    await expect.poll(() => clients[0]?.disconnected).toBe(true);
    expect(clients).toHaveLength(1);
    expect(countOf(each, 'subscribe')).toBe(1);
    expect(shared.subscription(topic)).toBeUndefined();
  });

  it('stays open if a component goes and returns within a turn', async () => {
    const each = world(open);
    const { shared, clients } = each;
    const topic = unique('strict');
    shared.acquire(topic, {}, {})();
    shared.acquire(topic, {}, {});
    await granted(shared, topic);
    expect([countOf(each, 'subscribe'), countOf(each, 'unsubscribe'), clients.length]).toEqual([1, 0, 1]);
  });

  it('delivers a message that matches two filters once to each', async () => {
    const { shared } = world(open);
    const topic = unique('two');
    shared.acquire(topic, {}, { messagesMax: 10 });
    shared.acquire(`${topic}/#`, {}, { messagesMax: 10 });
    await granted(shared, topic);
    await granted(shared, `${topic}/#`);
    await shared.publish(topic, 'one');
    await expect.poll(() => texts(shared, topic)).toEqual(['one']);
    await expect.poll(() => texts(shared, `${topic}/#`)).toEqual(['one']);
  });

  it('subscribes again after a loss, and goes on behind the last message of a stream', async () => {
    const { shared, clients } = world((options) => resume(open(options)));
    const topic = `rooms/${unique('cut')}`;
    const other = await publisher();
    await other.publishAsync(topic, 'before', { qos: 1 });
    shared.acquire(topic, { rewind: '10' }, { messagesMax: 10 });
    await expect.poll(() => texts(shared, topic)).toEqual(['before']);
    clients[0]?.stream.destroy();
    await other.publishAsync(topic, 'meanwhile', { qos: 1 });
    await expect.poll(() => texts(shared, topic)).toEqual(['before', 'meanwhile']);
    await granted(shared, topic);
    expect(shared.connection.value).toEqual({ state: 'connected', error: undefined });
  });

  it('knows the members of a room, and also those who left while it was away', async () => {
    const { shared, clients } = world(open);
    const room = unique('room');
    const members = () => [...(shared.subscription(`$presence/${room}/+`)?.shown.value.byTopic.keys() ?? [])];
    const ann = await publisher();
    await ann.publishAsync(`$presence/${room}/ann`, 'here', { qos: 1 });
    shared.acquire(`$presence/${room}/+`, {}, { topicsMax: 10 });
    shared.enter(`$presence/${room}/me`, '{}', () => {});
    await expect.poll(members).toEqual([`$presence/${room}/ann`, `$presence/${room}/me`]);
    clients[0]?.stream.destroy();
    await ann.publishAsync(`$presence/${room}/ann`, '', { qos: 1 });
    await expect.poll(members).toEqual([`$presence/${room}/me`]);
  });

  it('removes a member with its component, and tells the others its last data', async () => {
    const { shared } = world(open);
    const room = unique('room');
    const topic = `$presence/${room}/me`;
    const watcher = world(NODE_DOOR).shared;
    const seen = () => watcher.subscription(`$presence/${room}/+`)?.shown.value.byTopic.get(topic)?.text;
    watcher.acquire(`$presence/${room}/+`, {}, { topicsMax: 10 });
    await granted(watcher, `$presence/${room}/+`);
    const release = shared.hold();
    const leave = shared.enter(topic, 'first', () => {});
    await expect.poll(seen).toBe('first');
    leave();
    const leaveAgain = shared.enter(topic, 'second', () => {});
    await expect.poll(seen).toBe('second');
    leaveAgain();
    await expect.poll(seen).toBeUndefined();
    release();
  });

  it('sends a message whose component goes at once', async () => {
    const { shared, clients } = world(open);
    const topic = unique('last');
    const other = await publisher();
    await other.subscribeAsync(topic, { qos: 1 });
    const came = new Promise((resolve) =>
      other.once('message', (_topic, payload) => resolve(String(payload))),
    );
    const release = shared.hold();
    const published = shared.publish(topic, { a: 1 });
    release();
    await published;
    expect(await came).toBe('{"a":1}');
    await expect.poll(() => clients[0]?.disconnected).toBe(true);
  });
});

describe('a shared client', () => {
  it('says why the broker refuses a subscription', async () => {
    const { shared } = world();
    shared.acquire('$stream/none', {}, {});
    await expect
      .poll(() => shared.subscription('$stream/none')?.shown.value.error?.message)
      .toMatch(/^\$stream\/none: .+/);
    expect(shared.subscription('$stream/none')?.shown.value.isSubscribed).toBe(false);
  });

  it('refuses a filter that another component has with other options, until that one has gone', () => {
    const { shared } = world();
    const topic = unique('options');
    const release = shared.acquire(topic, {}, {});
    expect(() => shared.acquire(topic, { rewind: '5' }, {})).toThrow(`Another component subscribes ${topic}`);
    release();
    expect(() => shared.acquire(topic, { rewind: '5' }, {})).not.toThrow();
  });

  it('refuses a client of MQTT 3.1.1, and ends it', () => {
    const { shared, clients } = world(NODE_DOOR, { protocolVersion: 4 });
    expect(() => shared.hold()).toThrow('needs MQTT 5');
    expect(clients[0]?.disconnecting).toBe(true);
  });

  it('updates components once in a frame, however many messages come', async () => {
    const { shared } = world();
    const topic = unique('many');
    shared.acquire(topic, {}, { messagesMax: 50 });
    await granted(shared, topic);
    const told = vi.fn();
    shared.subscription(topic)?.shown.listen(told);
    const other = await publisher();
    await Promise.all(
      Array.from(
        { length: 1_000 },
        async (_, index) => await other.publishAsync(topic, `${index}`, { qos: 1 }),
      ),
    );
    await expect.poll(() => texts(shared, topic)?.at(-1)).toBe('999');
    expect(texts(shared, topic)).toHaveLength(50);
    expect(told.mock.calls.length).toBeLessThan(500);
  });

  it('keeps the topics that changed last, without those whose last message is empty', async () => {
    const { shared } = world();
    const base = unique('board');
    shared.acquire(`${base}/+`, {}, { topicsMax: 3 });
    const subscription = shared.subscription(`${base}/+`);
    await granted(shared, `${base}/+`);
    for (const name of ['a', 'b', 'c', 'a', 'd']) await shared.publish(`${base}/${name}`, 'x');
    await shared.publish(`${base}/c`, '');
    await expect
      .poll(() => [...(subscription?.shown.value.byTopic.keys() ?? [])])
      .toEqual(['a', 'd'].map((name) => `${base}/${name}`));
  });

  it('reads any payload as JSON without an error', async () => {
    const { shared } = world();
    const topic = unique('json');
    shared.acquire(topic, {}, { messagesMax: 10 });
    await granted(shared, topic);
    await shared.publish(topic, '{"a":');
    await shared.publish(topic, { a: 1 });
    const read = () => shared.subscription(topic)?.shown.value.messages.map((each) => each.json());
    await expect.poll(read).toEqual([undefined, { a: 1 }]);
  });
});
