import { Built } from '@apus/cli/testing';
import type { RunningNode } from '@apus/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

interface Body {
  readonly data: readonly Readonly<Record<string, unknown>>[];
  readonly meta: { readonly count: number; readonly hasnext: boolean; readonly missing?: number };
  readonly code?: string;
  readonly node?: string;
}

async function api(httpUrl: string, method: string, path: string): Promise<{ status: number; body: Body }> {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), { method });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

describe('a process that does not answer', needs('engine', program), () => {
  const built = new Built();

  it('leaves only its own clients out of a list, which says so, and its clients are not reported as gone', async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const one = await built.serve(['--cluster', engine.url]);
    const two = await built.serve(['--cluster', engine.url]);
    const [here, there] = [unique('here'), unique('there')];
    await ClusterClient.connect(one.url, { clientId: here });
    await ClusterClient.connect(two.url, { clientId: there });
    two.process.kill('SIGSTOP');
    const [list, lost] = await Promise.all([
      api(one.pageUrl, 'GET', '/clients'),
      api(one.pageUrl, 'DELETE', `/clients/${there}`),
    ]);
    expect(list.body.data.map(({ clientid }) => clientid)).toEqual([here]);
    expect(list.body.meta).toMatchObject({ count: 1, missing: 1 });
    expect(lost.status).toBe(503);
    // The others give it up: from then on there is one process.
    await expect
      .poll(async () => (await api(one.pageUrl, 'GET', '/clients')).body.meta.missing)
      .toBe(undefined);
    expect((await api(one.pageUrl, 'GET', `/clients/${there}`)).status).toBe(404);
  });
});

it(
  'adds up the deliveries that a tenant has caused at all processes [SEC-TENANT-4]',
  needs('engine', program),
  async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const quotas = { tenant: { deliveriesPerMinuteMax: 6_000 } };
    const members = [await startMember(engine.url, { quotas }), await startMember(engine.url, { quotas })];
    onTestFinished(async () => {
      for (const member of members) await member.stop();
    });
    const topic = unique('t');
    for (const { url } of members) {
      const { client } = await ClusterClient.connect(url);
      await client.subscribeAsync(topic, { qos: 1 });
    }
    for (const { url } of members) {
      const { client } = await ClusterClient.connect(url);
      await client.publishAsync(topic, 'x', { qos: 1 });
    }
    for (const { httpUrl } of members)
      expect((await api(httpUrl, 'GET', '/quotas')).body.data).toContainEqual({
        ...{ scope: 'tenant', name: 'deliveriesPerMinuteMax', max: 6_000, used: 4 },
      });
  },
);

describe('the HTTP API of one of three processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];
  const at = (index: number) => (members[index % members.length] as RunningNode).httpUrl;

  beforeAll(async () => {
    engine = await startEngine(program);
    members = [];
    for (let count = 0; count < 3; count += 1) members.push(await startMember(engine.url));
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  it('lists the clients of all, each once, whichever process a page comes from', async () => {
    const name = unique('page');
    const clients = Array.from({ length: 23 }, (_, index) => `${name}-${index}`);
    await Promise.all(
      clients.map((clientId, index) =>
        // Each process has another number of clients.
        ClusterClient.connect(members[index % 5 === 0 ? 0 : index % 2 === 0 ? 1 : 2]?.url ?? '', {
          clientId,
        }),
      ),
    );
    for (const limit of [1, 4, 7, 23, 100]) {
      const found: unknown[] = [];
      for (let page = 1; ; page += 1) {
        const { body } = await api(
          at(page),
          'GET',
          `/clients?like_clientid=${name}&limit=${limit}&page=${page}`,
        );
        expect(body.meta).toMatchObject({ count: 23, hasnext: page * limit < 23 });
        expect(body.data.length).toBeLessThanOrEqual(limit);
        found.push(...body.data.map(({ clientid }) => clientid));
        if (!body.meta.hasnext) break;
      }
      expect(found).toHaveLength(23);
      expect([...found].sort()).toEqual([...clients].sort());
    }
    const beyond = await api(at(0), 'GET', `/clients?like_clientid=${name}&limit=10&page=9`);
    expect(beyond.body).toMatchObject({ data: [], meta: { count: 23, hasnext: false } });
    expect((await api(at(0), 'GET', '/clients?limit=1001')).status).toBe(400);
    expect((await api(at(0), 'GET', '/clients?conn_state=asleep')).status).toBe(400);
  });

  it('shows one client with its subscriptions, and disconnects it, wherever it is', async () => {
    for (const home of [0, 1, 2]) {
      const [clientId, topic] = [unique('c/ü'), unique('t')];
      const client = await ClusterClient.connect(members[home]?.url ?? '', { clientId, ...KEPT });
      await client.client.subscribeAsync(topic, { qos: 1 });
      const path = `/clients/${encodeURIComponent(clientId)}`;
      const one = await api(at(0), 'GET', path);
      expect(one.body).toMatchObject({ clientid: clientId, connected: true, recv_msg: 0 });
      expect(one.body.node).toMatch(/^apus@.+:\d+$/);
      expect((await api(at(0), 'GET', `${path}/subscriptions`)).body).toMatchObject([{ topic, qos: 1 }]);
      const { body } = await api(at(0), 'GET', `/subscriptions?match_topic=${topic}`);
      expect(body.data.map(({ clientid }) => clientid)).toEqual([clientId]);
      const told = new Promise((resolve) =>
        client.client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
      );
      expect((await api(at(0), 'DELETE', path)).status).toBe(204);
      expect(await told).toBe(0x98);
      // The client's session stays.
      await expect.poll(async () => (await api(at(0), 'GET', path)).body).toMatchObject({ connected: false });
    }
    expect((await api(at(0), 'DELETE', `/clients/${unique('none')}`)).body.code).toBe('CLIENTID_NOT_FOUND');
  });

  it('shows nothing of the clients of another tenant', async () => {
    const clientId = unique('c');
    await ClusterClient.connect(members[1]?.url ?? '', { clientId });
    const response = await fetch(new URL(`/api/v5/clients/${clientId}`, at(0)), {
      headers: { 'Apus-Tenant': 'another' },
    });
    expect(response.status).toBe(404);
  });

  it('tells what happened to a client at another process, who is behind there, and traces it', async () => {
    const [clientId, topic, name] = [unique('watched'), unique('t'), unique('t').replaceAll(/\W/g, '-')];
    const trace = { name, type: 'clientid', value: clientId };
    const started = await fetch(new URL('/api/v5/trace', at(0)), {
      ...{ method: 'POST', body: JSON.stringify(trace) },
    });
    expect(started.status).toBe(200);
    const { client } = await ClusterClient.connect(members[1]?.url ?? '', { clientId, ...KEPT });
    await client.subscribeAsync(topic, { qos: 1 });
    await client.endAsync();
    const { client: publisher } = await ClusterClient.connect(members[2]?.url ?? '');
    await publisher.publishAsync(topic, 'x', { qos: 1 });
    const events = (await api(at(2), 'GET', `/client_events?clientid=${clientId}`)).body.data;
    expect(events.map(({ event }) => event).sort()).toEqual(['connected', 'disconnected']);
    await expect
      .poll(async () => (await api(at(0), 'GET', '/slow_subscriptions')).body.data)
      .toContainEqual(expect.objectContaining({ clientid: clientId, topic, mqueue_len: 1 }));
    const { body } = await api(at(2), 'GET', `/trace/${name}/log`);
    const { lines } = body as unknown as { readonly lines: readonly { readonly event: string }[] };
    expect(lines.map(({ event }) => event)).toContain('subscribed');
    expect((await api(at(1), 'GET', '/trace')).body.data).toHaveLength(1);
    expect((await api(at(1), 'DELETE', `/trace/${name}`)).status).toBe(204);
    for (const index of [0, 1, 2]) expect((await api(at(index), 'GET', '/trace')).body.data).toEqual([]);
  });

  it('has the figures of each process, and for Prometheus with its name', async () => {
    for (const path of ['/stats', '/metrics']) {
      const { body } = await api(at(0), 'GET', path);
      expect(body).toHaveLength(3);
    }
    const stats = (await api(at(1), 'GET', '/stats')).body as unknown as Readonly<Record<string, number>>[];
    const { body } = await api(at(1), 'GET', '/clients?limit=1');
    expect(stats.reduce((sum, each) => sum + (each['sessions.count'] ?? 0), 0)).toBe(body.meta.count);
    const quotas = (await api(at(2), 'GET', '/quotas')).body as unknown as {
      readonly data: readonly Record<string, unknown>[];
    };
    expect(quotas.data).toContainEqual({
      ...{ scope: 'tenant', name: 'sessionsMax', max: 900_000, used: body.meta.count },
    });
    const text = await (await fetch(new URL('/api/v5/prometheus/stats', at(0)))).text();
    expect(text.match(/^emqx_sessions_count\{node="apus@[^"]+:\d+"\} \d+$/gm)).toHaveLength(3);
    expect(text.match(/^# TYPE emqx_sessions_count gauge$/gm)).toHaveLength(1);
  });
});
