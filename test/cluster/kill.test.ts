import { Built, type Serving } from '@apus/cli/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 50 };

describe('kill -9 of a process', needs('engine', program), () => {
  const built = new Built();

  const cluster = async (
    size: number,
  ): Promise<{ engineUrl: string; members: Serving[]; start(): Promise<Serving> }> => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const start = () => built.serve(['--cluster', engine.url]);
    const members: Serving[] = [];
    for (let count = 0; count < size; count += 1) members.push(await start());
    return { engineUrl: engine.url, members, start };
  };

  /** A client that reconnects to the other processes in turn when its own is gone. */
  const roaming = (members: readonly Serving[], first: number, clientId: string) => {
    let turn = first;
    return ClusterClient.connect('ws://127.0.0.1', {
      clientId,
      ...KEPT,
      reconnectPeriod: 200,
      connectTimeout: 20_000,
      transformWsUrl: () => members[turn++ % members.length]?.url ?? '',
    });
  };

  it.each([1, 2] as const)(
    'loses no message at QoS %i, of publishers and subscribers anywhere',
    async (qos) => {
      const { members } = await cluster(3);
      const topic = unique('t');
      const subscribers = [0, 1, 2].map((at) => roaming(members, at, unique('s')));
      const publishers = [0, 1, 2].map((at) => roaming(members, at, unique('p')));
      const all = await Promise.all([...subscribers, ...publishers]);
      const [readers, writers] = [all.slice(0, 3), all.slice(3)];
      for (const { client } of readers) await client.subscribeAsync(`${topic}/+`, { qos: 2 });
      const count = 300;
      let sent = 0;
      const publish = async (writer: ClusterClient | undefined, index: number) => {
        for (let number = 0; number < count; number += 1) {
          await writer?.client.publishAsync(`${topic}/${index}`, String(number), { qos });
          sent += 1;
        }
      };
      const publishing = Promise.all(writers.map(publish));
      await expect.poll(() => sent, ARRIVAL).toBeGreaterThan(count / 3);
      await members[0]?.stop('SIGKILL');
      await publishing;
      const numbers = Array.from({ length: count }, (_, number) => String(number));
      for (const reader of readers)
        for (const index of [0, 1, 2]) {
          const of = () =>
            reader.received.filter((each) => each.topic === `${topic}/${index}`).map(({ text }) => text);
          await expect.poll(() => new Set(of()).size, ARRIVAL).toBe(count);
          // At QoS 1 a message may come twice; the first of each come in order [MQTT-4.6.0-6].
          expect(qos === 2 ? of() : [...new Set(of())]).toEqual(numbers);
        }
    },
  );

  it('publishes the wills of its clients once, and keeps offline sessions', async () => {
    const { members } = await cluster(2);
    const [one, two] = members as [Serving, Serving];
    const [topic, away] = [unique('t'), unique('c')];
    const watcher = await ClusterClient.connect(two.url);
    await watcher.client.subscribeAsync(`${topic}/will/+`, { qos: 1 });
    const before = await ClusterClient.connect(one.url, { clientId: away, ...KEPT });
    await before.client.subscribeAsync(`${topic}/away`, { qos: 1 });
    await before.client.endAsync();
    await watcher.client.publishAsync(`${topic}/away`, 'before', { qos: 1 });
    for (const [name, clean] of [
      ['ephemeral', true],
      ['kept', false],
    ] as const)
      await RawClient.connect(one.url, {
        clientId: unique('w'),
        clean,
        properties: { sessionExpiryInterval: clean ? 0 : 300 },
        will: { topic: `${topic}/will/${name}`, payload: 'gone', qos: 1, retain: false, properties: {} },
      });
    // Its client sends DISCONNECT: the broker discards this will.
    const polite = await ClusterClient.connect(one.url, {
      will: { topic: `${topic}/will/polite`, payload: Buffer.from('gone'), qos: 1, retain: false },
    });
    await polite.client.endAsync();
    // DISCONNECT has no answer. The broker sends the SUBACK of a persistent session when the engine has stored
    // everything before it.
    const later = await ClusterClient.connect(one.url, { clientId: unique('l'), ...KEPT });
    await later.client.subscribeAsync(`${topic}/later`, { qos: 1 });
    await one.stop('SIGKILL');
    await watcher.client.publishAsync(`${topic}/away`, 'after', { qos: 1 });
    const after = await ClusterClient.connect(two.url, { clientId: away, ...KEPT, connectTimeout: 60_000 });
    expect(await after.got(2)).toEqual(['before', 'after']);
    await expect
      .poll(() => watcher.received.map((each) => each.topic).sort(), ARRIVAL)
      .toEqual([`${topic}/will/ephemeral`, `${topic}/will/kept`]);
  });

  it('lets its members leave their rooms after the grace, and keeps those that come back', async () => {
    const { members } = await cluster(3);
    const [one, two, three] = members as [Serving, Serving, Serving];
    const room = unique('r');
    const enter = async (client: ClusterClient, member: string) =>
      await client.client.publishAsync(`$presence/${room}/${member}`, 'here', { qos: 1 });
    // The first change in a room decides which process announces its changes: the one that will be killed.
    await enter(await ClusterClient.connect(one.url), 'gone');
    const watchers = [await ClusterClient.connect(two.url), await ClusterClient.connect(three.url)];
    for (const { client } of watchers) await client.subscribeAsync(`$presence/${room}/+`, { qos: 1 });
    const returning = await roaming([one, two], 0, unique('c'));
    returning.client.on('connect', () => void enter(returning, 'back').catch(() => {}));
    await enter(returning, 'back');
    await enter(await ClusterClient.connect(three.url), 'stays');
    await one.stop('SIGKILL');
    await enter(await ClusterClient.connect(two.url), 'new');
    for (const watcher of watchers) {
      const seen = () => watcher.received.map(({ topic, text }) => `${topic.split('/')[2]}=${text}`);
      await expect.poll(seen, ARRIVAL).toContain('gone=');
      const before = ['gone=here', 'back=here', 'stays=here', 'new=here', 'gone='];
      // A change that the process was announcing may come twice.
      expect([...new Set(seen())].sort()).toEqual(before.sort());
    }
    const listed = await fetch(`${two.pageUrl}api/v5/presence/${room}`);
    const { data } = (await listed.json()) as { data: { member: string }[] };
    expect(data.map(({ member }) => member).sort()).toEqual(['back', 'new', 'stays']);
  });

  it('of all of them leaves the sessions to a new one', async () => {
    const { members, start } = await cluster(2);
    const [one, two] = members as [Serving, Serving];
    const [topic, clientId] = [unique('t'), unique('c')];
    const before = await ClusterClient.connect(one.url, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 1 });
    await before.client.endAsync();
    const publisher = await ClusterClient.connect(two.url);
    await publisher.client.publishAsync(topic, 'kept', { qos: 1 });
    await Promise.all([one.stop('SIGKILL'), two.stop('SIGKILL')]);
    const three = await start();
    const after = await roaming([three], 0, clientId);
    expect(await after.got(1)).toEqual(['kept']);
  });

  it('that was only stopped for a while: it ends itself when it wakes, and its sessions have moved to others', async () => {
    const { members } = await cluster(2);
    const [one, two] = members as [Serving, Serving];
    const [topic, clientId] = [unique('t'), unique('c')];
    const before = await ClusterClient.connect(one.url, { clientId, ...KEPT });
    await before.client.subscribeAsync(topic, { qos: 1 });
    one.process.kill('SIGSTOP');
    const publisher = await ClusterClient.connect(two.url);
    await publisher.client.publishAsync(topic, 'meanwhile', { qos: 1 });
    const after = await ClusterClient.connect(two.url, { clientId, ...KEPT, connectTimeout: 60_000 });
    expect(await after.got(1)).toEqual(['meanwhile']);
    const { code, stderr } = await one.stop('SIGCONT');
    expect(code).toBe(1);
    expect(stderr).toContain('have given this one up');
    await publisher.client.publishAsync(topic, 'then', { qos: 1 });
    expect(await after.got(2)).toEqual(['meanwhile', 'then']);
  });
});
