import { type Authenticator, rulesOfLists } from '@apus/broker';
import { Built } from '@apus/cli/testing';
import { Engine } from '@apus/cluster/store';
import type { RunningNode } from '@apus/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 90_000, interval: 50 };
const PER_PROCESS = 60;

async function engineForTest(keeper = program ?? ''): Promise<string> {
  const engine = await startEngine(keeper);
  onTestFinished(() => engine.stop());
  return engine.url;
}

async function membersForTest(url: string, count: number): Promise<RunningNode[]> {
  const members: RunningNode[] = [];
  onTestFinished(async () => {
    for (const member of members) await member.stop();
  });
  for (let made = 0; made < count; made += 1) members.push(await startMember(url));
  return members;
}

const numbers = Array.from({ length: PER_PROCESS }, (_, number) => String(number));

describe('$delayed/SECONDS/TOPIC at three processes', needs('engine', program), () => {
  it('is delivered once, wherever it was published, in the order of each publisher, and not before it is due', async () => {
    const members = await membersForTest(await engineForTest(), 3);
    const topic = unique('t');
    const readers = await Promise.all(members.map(({ url }) => ClusterClient.connect(url)));
    for (const { client } of readers) await client.subscribeAsync(`${topic}/+`, { qos: 2 });
    const startedAtMs = performance.now();
    await Promise.all(
      members.map(async ({ url }, index) => {
        const { client } = await ClusterClient.connect(url);
        for (const text of numbers)
          await client.publishAsync(`$delayed/3/${topic}/${index}`, text, { qos: 1 });
      }),
    );
    const isEarly = performance.now() - startedAtMs < 3_000;
    for (const reader of readers) if (isEarly) expect(reader.received).toEqual([]);
    for (const reader of readers) await reader.got(3 * PER_PROCESS);
    expect(performance.now() - startedAtMs).toBeGreaterThanOrEqual(3_000);
    for (const reader of readers)
      for (const index of [0, 1, 2])
        expect(
          reader.received.filter((each) => each.topic === `${topic}/${index}`).map(({ text }) => text),
        ).toEqual(numbers);
  });

  it('is delivered at once with a delay of 0, while other processes look for due messages', async () => {
    const members = await membersForTest(await engineForTest(), 3);
    const topic = unique('t');
    const reader = await ClusterClient.connect(members[0]?.url ?? '');
    await reader.client.subscribeAsync(topic, { qos: 1 });
    const publishers = await Promise.all(members.map(({ url }) => ClusterClient.connect(url)));
    await Promise.all(
      publishers.flatMap(({ client }, index) =>
        numbers.map((text) => client.publishAsync(`$delayed/0/${topic}`, `${index} ${text}`, { qos: 1 })),
      ),
    );
    await expect.poll(() => new Set(reader.texts).size).toBe(3 * PER_PROCESS);
  });

  it('is delivered when all processes end before it is due, and start again', async () => {
    const url = await engineForTest();
    const first = await startMember(url);
    const [topic, clientId] = [unique('t'), unique('c')];
    const reader = await ClusterClient.connect(first.url, { clientId, ...KEPT });
    await reader.client.subscribeAsync(topic, { qos: 1 });
    await reader.client.publishAsync(`$delayed/1/${topic}`, 'later', { qos: 1 });
    await reader.client.endAsync();
    await first.stop();
    const [second] = await membersForTest(url, 1);
    const back = await ClusterClient.connect(second?.url ?? '', {
      clientId,
      ...KEPT,
      connectTimeout: 60_000,
    });
    expect(await back.got(1)).toEqual(['later']);
  });
});

describe('$delayed/SECONDS/TOPIC of users of one tenant', needs('engine', program), () => {
  const authenticator: Authenticator = {
    authenticate: ({ username = '' }) => ({
      ...{ tenant: 'default', name: username, quotas: username === 'large' ? { delayedBytesMax: 0 } : {} },
      rules: rulesOfLists(['#'], ['#']),
    }),
  };
  const apiKey = 'k'.repeat(32);

  it('is shared: one user fills its share over all processes, and a ban gives it back [SEC-POOL-1] [SEC-POOL-2]', async () => {
    const url = await engineForTest();
    const options = { authenticator, apiKey, quotas: { identity: { delayedMessagesMax: 3 } } };
    const members = [await startMember(url, options), await startMember(url, options)];
    onTestFinished(async () => {
      for (const member of members) await member.stop();
    });
    const as = (username: string) =>
      Promise.all(members.map(({ url: at }) => ClusterClient.connect(at, { username, password: '-' })));
    const publish = ({ client }: ClusterClient, payload: string | Buffer = 'x') =>
      client.publishAsync('$delayed/4294967/a', payload, { qos: 1 });
    const [one, two] = (await as('greedy')) as [ClusterClient, ClusterClient];
    await publish(one);
    await publish(two);
    await publish(one);
    await expect(publish(one)).rejects.toMatchObject({ code: 0x97 });
    await expect(publish(two)).rejects.toMatchObject({ code: 0x97 });
    const [honest] = (await as('honest')) as [ClusterClient];
    await publish(honest);
    const headers = { authorization: `Bearer ${apiKey}` };
    const call = (path: string, sent?: object) =>
      fetch(new URL(`/api/v5${path}`, members[1]?.httpUrl), {
        headers,
        ...(sent && { method: 'POST', body: JSON.stringify(sent) }),
      });
    expect((await call('/banned', { as: 'username', who: 'greedy' })).status).toBe(200);
    const engine = await Engine.connect({ url });
    onTestFinished(() => engine.close());
    expect(await engine.client.zcard(engine.key('delayed'))).toBe(1);
    expect(await engine.client.zcard(engine.key('retained', 'topics', '$delayed'))).toBe(1);
    // The room of a tenant: no more than half of what there is for all.
    const [large] = (await as('large')) as [ClusterClient];
    await publish(large, Buffer.alloc(2_000_000));
  });
});

describe('$delayed/SECONDS/TOPIC and kill -9', needs('engine', program), () => {
  const built = new Built();

  it('is not lost when a process dies while clients publish to it', async () => {
    const url = await engineForTest();
    const start = () => built.serve(['--cluster', url]);
    const members = [await start(), await start(), await start()];
    const topic = unique('t');
    const reader = await ClusterClient.connect(members[2]?.url ?? '');
    await reader.client.subscribeAsync(`${topic}/+`, { qos: 1 });
    const publishers = await Promise.all(members.map(({ url: at }) => ClusterClient.connect(at)));
    await Promise.all(
      publishers.map(async ({ client }, index) => {
        for (const text of numbers)
          await client.publishAsync(`$delayed/2/${topic}/${index}`, text, { qos: 1 });
      }),
    );
    // The first ones have come: one of the processes publishes. Two are killed, so that it is among them, or their messages are left.
    await reader.got(1);
    await Promise.all(members.slice(0, 2).map((member) => member.stop('SIGKILL')));
    const come = () => new Set(reader.received.map((each) => `${each.topic} ${each.text}`)).size;
    await expect.poll(come, ARRIVAL).toBe(3 * PER_PROCESS);
  });
});
