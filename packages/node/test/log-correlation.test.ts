import { LOG_LINES_MAX } from '@apus/broker';
import mqtt from 'mqtt';
import { expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { jsonLine, type LogEntry } from '../src/log.ts';
import type { NodeOptions } from '../src/options.ts';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';
import { upgrade } from './support/upgrade.ts';

const SECRET = 'a-secret-that-no-log-may-show';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/** A node, and the lines that it writes. */
async function loggingNode(options: NodeOptions = {}) {
  const lines: string[] = [];
  const logSink = (entry: LogEntry) => lines.push(jsonLine(entry));
  const node = await nodeForTest({ logLevel: 'debug', logSink, ...options });
  const entries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { node, lines, entries, of: (event: string) => entries().filter((entry) => entry.event === event) };
}

const NOTHING_ALLOWED: NodeOptions = {
  authenticator: { authenticate: ({ username = '' }) => ({ tenant: 'acme', name: username }) },
  authorizer: { mayPublish: () => false, maySubscribe: () => false },
};

test('a flood of refused handshakes from many addresses has so many lines, and a number for the others [SEC-LOG-3]', async () => {
  const { node, lines, of } = await loggingNode({ logLevel: 'info', trustedProxies: ['127.0.0.1'] });
  const flood = LOG_LINES_MAX + 100;
  const elsewhere = node.url.replace('/mqtt', '/elsewhere');
  for (let index = 0; index < flood; index += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, one) =>
        upgrade(elsewhere, {
          'X-Forwarded-For': `10.1.${Math.floor((index + one) / 250)}.${(index + one) % 250}`,
        }),
      ),
    );
  await node.stop();
  expect(of('handshake-refused')).toHaveLength(LOG_LINES_MAX);
  expect(of('lines-left-out')).toMatchObject([{ level: 'warn', count: 100, linesMax: LOG_LINES_MAX }]);
  expect(lines.join('').length).toBeLessThan(LOG_LINES_MAX * 300);
});

test('a flood of refused CONNECTs of one address, with long client identifiers, has two lines', async () => {
  const authenticator = { authenticate: () => ({ refused: 0x87, reason: 'no client may' }) };
  const { node, lines, of } = await loggingNode({ logLevel: 'info', authenticator });
  for (let index = 0; index < 100; index++)
    await RawClient.connect(node.url, {
      clientId: `${'c'.repeat(900)}${index}`,
      username: 'x',
      password: SECRET,
    });
  await node.stop();
  expect(of('connect-refused')).toMatchObject([
    { reasonCode: 0x87, address: expect.stringMatching(/^127/), connectionId: expect.any(String) },
    { reasonCode: 0x87, repeated: 99 },
  ]);
  expect(lines.join('').length).toBeLessThan(2_000);
});

test('every line of a connection has the identifier that the API tells, and says who and from where', async () => {
  const { node, entries } = await loggingNode({ ...NOTHING_ALLOWED, apiKey: 'k'.repeat(32) });
  const { client } = await RawClient.connect(node.url, {
    clientId: 'lamp',
    username: 'ada',
    password: SECRET,
  });
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] });
  await client.expect('suback');
  client.send({ cmd: 'publish', topic: 'a', payload: SECRET, qos: 1, messageId: 2 });
  await client.expect('puback');
  const headers = { Authorization: `Bearer ${'k'.repeat(32)}`, 'Apus-Tenant': 'acme' };
  const { body } = await call(node.httpUrl, '/clients/lamp', 'GET', headers);
  const { connection_id: connectionId } = body as { connection_id: string };
  client.close();
  await expect.poll(() => entries().map(({ event }) => event)).toContain('disconnected');
  const own = entries().filter((entry) => entry.connectionId === connectionId);
  expect(own.map(({ event, reasonCode }) => [event, reasonCode])).toEqual([
    ['opened', undefined],
    ['connected', undefined],
    ['subscribe-refused', 0x87],
    ['subscribed', undefined],
    ['publish-refused', 0x87],
    ['connection-lost', undefined],
    ['disconnected', undefined],
  ]);
  // The last is about the session, which has no address.
  expect(own.at(-1)).toMatchObject({ tenant: 'acme', name: 'ada', clientId: 'lamp', reason: 'tcp_closed' });
  for (const entry of own.slice(1, -1))
    expect(entry).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: expect.stringMatching(/^(debug|warn)$/),
      tenant: 'acme',
      name: 'ada',
      clientId: 'lamp',
      address: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
  expect(new Set(own.slice(0, -1).map(({ address }) => address)).size).toBe(1);
});

test('no line has a token, a password or a payload [SEC-LOG-4]', async () => {
  const { node, lines } = await loggingNode(NOTHING_ALLOWED);
  const { client } = await RawClient.connect(node.url, { username: 'ada', password: SECRET });
  client.send({ cmd: 'publish', topic: 'a', payload: SECRET, qos: 1, messageId: 2 });
  await client.expect('puback');
  await upgrade(`${node.url}?token=${SECRET}`, {
    'Sec-WebSocket-Protocol': 'none',
    Authorization: `Bearer ${SECRET}`,
  });
  await upgrade(node.url.replace('/mqtt', `/?token=${SECRET}`));
  await node.stop();
  expect(lines.length).toBeGreaterThan(4);
  expect(lines.join('\n')).not.toContain(SECRET);
});

test('debug lines name the trace that a publisher gives, if it is one', async () => {
  for (const logLevel of ['debug', 'info'] as const) {
    const { node, of } = await loggingNode({ logLevel });
    const client = await mqtt.connectAsync(node.url, { protocolVersion: 5 });
    onTestFinished(() => client.endAsync(true));
    for (const traceparent of [TRACE, `${TRACE}\n${'x'.repeat(60_000)}`, ''])
      await client.publishAsync('a', 'x', { qos: 1, properties: { userProperties: { traceparent } } });
    const published = of('publish').map((entry) => [entry.topic, entry.traceparent]);
    const others = ['a', undefined];
    expect(published).toEqual(logLevel === 'debug' ? [['a', TRACE], others, others] : []);
  }
});

test('a PUBLISH that is refused names its trace at debug level alone', async () => {
  for (const logLevel of ['debug', 'info'] as const) {
    const { node, of } = await loggingNode({ ...NOTHING_ALLOWED, logLevel });
    const { client } = await RawClient.connect(node.url, { username: 'ada', password: 'x' });
    const properties = { userProperties: { traceparent: TRACE } };
    client.send({ cmd: 'publish', topic: 'a', payload: 'x', qos: 1, messageId: 2, properties });
    await client.expect('puback');
    expect(of('publish-refused').map(({ traceparent }) => traceparent)).toEqual([
      logLevel === 'debug' ? TRACE : undefined,
    ]);
  }
});
