import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UsageLine } from '@apus/broker';
import { connectAsync, type MqttClient } from 'mqtt';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NodeOptions } from '../src/index.ts';
import { call } from './support/call-api.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';
import { scrape } from './support/scrape.ts';

const KEY = 'a-key-of-more-than-22-characters';
const HEADERS = { authorization: `Bearer ${KEY}` };

/** Clients are of the tenant that is their user name. */
const BY_USER_NAME: NodeOptions = {
  apiKey: KEY,
  authenticator: {
    authenticate: ({ username = 'default' }) => ({
      tenant: username,
      name: 'a',
      rules: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
    }),
  },
};

async function start(clock: FakeScheduler, more: NodeOptions = {}) {
  return await nodeForTest({
    ...BY_USER_NAME,
    clock,
    sysIntervalSeconds: 0,
    sysHeartbeatSeconds: 0,
    ...more,
  });
}

async function client(url: string, username: string, options: object = {}): Promise<MqttClient> {
  const connected = await connectAsync(url, {
    ...{ protocolVersion: 5, keepalive: 0, reconnectPeriod: 0, username, password: 'x', ...options },
  });
  onTestFinished(() => connected.endAsync(true));
  return connected;
}

async function usage(httpUrl: string, query = ''): Promise<readonly UsageLine[]> {
  const { status, body } = await call(httpUrl, `/usage${query}`, 'GET', HEADERS);
  expect([status, body]).toEqual([200, expect.anything()]);
  return (body as { readonly data: readonly UsageLine[] }).data;
}

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-usage-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe('GET /api/v5/usage', () => {
  test('has the connection-minutes, messages, bytes and deliveries of each tenant', async () => {
    const clock = new FakeScheduler();
    const { url, httpUrl } = await start(clock);
    const acme = await client(url, 'acme');
    await client(url, 'globex');
    await acme.subscribeAsync('a', { qos: 2 });
    await acme.publishAsync('a', 'x', { qos: 0 });
    await acme.publishAsync('a', 'x', { qos: 1 });
    await acme.publishAsync('a', 'x', { qos: 2 });
    await acme.publishAsync('a', 'x', { qos: 2 });
    clock.advance(90_000);
    const [first, second, ...others] = await usage(httpUrl);
    expect(others).toEqual([]);
    expect(first).toMatchObject({
      tenant: 'acme',
      time: '2026-01-01T00',
      connectionMs: 90_000,
      messagesIn: 4,
    });
    expect(first).toMatchObject({ messagesOutQos0: 1, messagesOutQos1: 1, messagesOutQos2: 2 });
    expect(second).toMatchObject({
      tenant: 'globex',
      connectionMs: 90_000,
      messagesIn: 0,
      messagesOutQos0: 0,
    });
  });

  test('adds up to what the node has counted, to a byte', async () => {
    const clock = new FakeScheduler();
    const { url, httpUrl } = await start(clock);
    const clients = [await client(url, 'acme'), await client(url, 'acme'), await client(url, 'globex')];
    for (const each of clients) await each.subscribeAsync('a/#', { qos: 1 });
    for (let index = 0; index < 50; index += 1) {
      await clients[index % 3]?.publishAsync(`a/${index}`, 'x'.repeat(index), {
        qos: index % 2 === 0 ? 0 : 1,
      });
      if (index % 10 === 0) clock.advance(10_000);
    }
    // One that comes and goes between two looks.
    await (await client(url, 'globex')).endAsync();
    await clients[0]?.endAsync();
    const counted = async () => {
      const lines = await usage(httpUrl);
      const { values } = await scrape(httpUrl, HEADERS);
      const sum = (...fields: (keyof UsageLine)[]): number =>
        lines.reduce((all, line) => fields.reduce((one, field) => one + Number(line[field]), all), 0);
      expect({
        bytesIn: sum('bytesIn'),
        bytesOut: sum('bytesOut'),
        messagesIn: sum('messagesIn'),
        messagesOut: sum('messagesOutQos0', 'messagesOutQos1', 'messagesOutQos2'),
        qos1: sum('messagesOutQos1'),
      }).toEqual({
        bytesIn: values.get('emqx_bytes_received'),
        bytesOut: values.get('emqx_bytes_sent'),
        messagesIn: values.get('emqx_messages_received'),
        messagesOut: values.get('emqx_messages_sent'),
        qos1: values.get('emqx_messages_qos1_sent'),
      });
    };
    await vi.waitFor(counted);
    // A question changes nothing.
    await counted();
  });

  test('counts a connection that has ended from its handshake to its end', async () => {
    const clock = new FakeScheduler();
    const { url, httpUrl } = await start(clock);
    const acme = await client(url, 'acme');
    clock.advance(3_000);
    await acme.endAsync();
    await vi.waitFor(async () => expect(await usage(httpUrl)).toMatchObject([{ connectionMs: 3_000 }]));
    clock.advance(60_000);
    expect(await usage(httpUrl)).toMatchObject([{ connectionMs: 3_000 }]);
  });

  test('counts retained and waiting messages by their bytes and the time that they are kept', async () => {
    const clock = new FakeScheduler();
    const { url, httpUrl } = await start(clock);
    const acme = await client(url, 'acme');
    await acme.publishAsync('a', Buffer.alloc(10_000), { qos: 1, retain: true });
    clock.advance(60_000);
    const [line] = await usage(httpUrl);
    // A retained message is its bytes, and 256 for each.
    expect(line?.storageByteSeconds).toBeGreaterThanOrEqual(10_000 * 60);
    expect(line?.storageByteSeconds).toBeLessThan(10_500 * 60);
  });

  test('counts what a backend publishes through the API', async () => {
    const clock = new FakeScheduler();
    const { httpUrl } = await start(clock);
    const sent = await fetch(new URL('/api/v5/publish', httpUrl), {
      method: 'POST',
      headers: { ...HEADERS, 'apus-tenant': 'acme', 'content-type': 'application/json' },
      body: JSON.stringify({ topic: 'a', payload: 'four' }),
    });
    expect(sent.ok).toBe(true);
    expect(await usage(httpUrl)).toMatchObject([{ tenant: 'acme', messagesIn: 1, bytesIn: 4 }]);
  });

  test('answers by hour, day and month, between two times, and for one tenant', async () => {
    const clock = new FakeScheduler();
    const { url, httpUrl } = await start(clock);
    await client(url, 'acme');
    await client(url, 'globex');
    clock.advance(25 * 3_600_000);
    const hours = await usage(httpUrl, '?tenant=acme&by=hour');
    expect(hours).toHaveLength(26);
    expect(hours[1]).toMatchObject({ tenant: 'acme', time: '2026-01-01T01', connectionMs: 3_600_000 });
    const days = await usage(httpUrl, '?tenant=acme&by=day&from=2026-01-01&to=2026-01-03');
    expect(days.map(({ time }) => time)).toEqual(['2026-01-01', '2026-01-02']);
    const sum = days.reduce((all, { connectionMs }) => all + connectionMs, 0);
    expect(sum).toBe(25 * 3_600_000);
    expect(await usage(httpUrl, '?from=2026-01-01T03&to=2026-01-01T05')).toMatchObject([
      { tenant: 'acme', connectionMs: 7_200_000 },
      { tenant: 'globex', connectionMs: 7_200_000 },
    ]);
    expect(await usage(httpUrl, '?by=month&tenant=nobody')).toEqual([]);
  });

  test.each([
    ['?by=week', 'by is one of hour, day, month, total.'],
    ['?from=yesterday', 'from is a month, a day or an hour in UTC, as 2026-11, 2026-11-25 or 2026-11-25T18.'],
    ['?from=2026-13', 'from is a month, a day or an hour in UTC, as 2026-11, 2026-11-25 or 2026-11-25T18.'],
    ['?from=2026-02&to=2026-01', 'from has to be before to.'],
    ['?tennant=a', 'A question about usage has no field "tennant": tenant, from, to, by.'],
  ])('%s is answered 400: %s', async (query, message) => {
    const { httpUrl } = await start(new FakeScheduler());
    expect(await call(httpUrl, `/usage${query}`, 'GET', HEADERS)).toMatchObject({
      status: 400,
      body: { code: 'BAD_REQUEST', message },
    });
  });
});

describe('usage with a data directory', () => {
  test('goes on after a restart, with nothing lost, doubled or uncertain', async () => {
    const dataDirectory = folder();
    const clock = new FakeScheduler();
    const first = await start(clock, { dataDirectory });
    const before = await client(first.url, 'acme');
    await before.publishAsync('a', 'x', { qos: 1 });
    clock.advance(5_000);
    await first.stop();
    const second = await start(clock, { dataDirectory });
    const after = await client(second.url, 'acme');
    await after.publishAsync('a', 'x', { qos: 1 });
    clock.advance(2 * 3_600_000);
    const [line, ...others] = await usage(second.httpUrl);
    expect(others).toEqual([]);
    expect(line).toMatchObject({ connectionMs: 5_000 + 2 * 3_600_000, messagesIn: 2, uncertainMs: 0 });
    await second.stop();
    const third = await start(clock, { dataDirectory });
    const { bytesOut: _, ...same } = line ?? {};
    // The clients have been told why they were disconnected.
    expect(await usage(third.httpUrl)).toMatchObject([same]);
  });

  test('of a process that was killed lacks its last ten seconds at most, and says so', async () => {
    const dataDirectory = folder();
    const clock = new FakeScheduler();
    const first = await start(clock, { dataDirectory });
    const acme = await client(first.url, 'acme');
    await acme.publishAsync('a', 'x', { qos: 1 });
    clock.advance(10_000);
    const present = join(dataDirectory, 'usage', 'present.json');
    await vi.waitFor(() => expect(readFileSync(present, 'utf8')).toContain('acme'));
    await acme.publishAsync('a', 'x', { qos: 1 });
    clock.advance(9_000);
    // A kill leaves the directory as it is now.
    const copy = folder();
    cpSync(join(dataDirectory, 'usage'), join(copy, 'usage'), { recursive: true });
    const second = await start(clock, { dataDirectory: copy });
    expect(await usage(second.httpUrl)).toMatchObject([
      { tenant: 'acme', connectionMs: 10_000, messagesIn: 1, uncertainMs: 10_000 },
    ]);
  });

  test('counts an hour once where a process died between the file of the month and that of the present', async () => {
    const dataDirectory = folder();
    const clock = new FakeScheduler();
    const first = await start(clock, { dataDirectory });
    await client(first.url, 'acme');
    clock.advance(60_000);
    await first.stop();
    const { rows } = JSON.parse(readFileSync(join(dataDirectory, 'usage', 'present.json'), 'utf8'));
    const line = `${JSON.stringify(rows[0])}\n`;
    appendFileSync(join(dataDirectory, 'usage', '2026-01.jsonl'), `${line}${line}{"tenant":"ac`);
    clock.advance(3_600_000);
    const second = await start(clock, { dataDirectory });
    expect(await usage(second.httpUrl)).toMatchObject([{ connectionMs: 60_000 }]);
    clock.advance(20_000);
    await second.stop();
    const third = await start(clock, { dataDirectory });
    expect(await usage(third.httpUrl)).toMatchObject([{ connectionMs: 60_000 }]);
  });
});
