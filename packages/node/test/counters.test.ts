import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { type CountersAnswer, countersAnswer, withCounters } from '../src/counters.ts';
import { PeerAddresses } from '../src/peer-address.ts';
import { nodeForTest } from './support/nodes.ts';

async function countersOf(httpUrl: string): Promise<CountersAnswer> {
  const response = await fetch(new URL('/counters', httpUrl));
  expect(response.headers.get('cache-control')).toBe('no-store');
  return (await response.json()) as CountersAnswer;
}

describe('/counters', () => {
  test('says what this process has used, and no gateway where the node door is alone', async () => {
    const node = await nodeForTest({ counters: true });
    const { gateway, process: used } = await countersOf(node.httpUrl);
    expect(gateway).toBeUndefined();
    expect(used.pid).toBe(process.pid);
    expect(used.cpuMicroseconds).toBeGreaterThan(0);
    expect(used.residentBytes).toBeGreaterThan(1_000_000);
  });

  test('is not there unless it was asked for, and the page is where it always is', async () => {
    const node = await nodeForTest();
    expect((await fetch(new URL('/counters', node.httpUrl))).status).toBe(404);
    const counting = await nodeForTest({ counters: true });
    expect((await fetch(new URL('/healthz', counting.httpUrl))).status).toBe(200);
  });

  test.each([
    ['127.0.0.1', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['192.0.2.7', false],
    ['::ffff:192.0.2.7', false],
    [undefined, false],
  ])('a program at %s is answered: %s', (remoteAddress, isAnswered) => {
    let passedOn = false;
    const handler = withCounters(
      () => {
        passedOn = true;
      },
      () => countersAnswer(undefined),
      new PeerAddresses([]),
    );
    const headers = { host: '127.0.0.1:8083' };
    const request = { method: 'GET', url: '/counters', headers, socket: { remoteAddress } };
    const response = { setHeader() {}, end() {} };
    handler(request as unknown as IncomingMessage, response as unknown as ServerResponse<IncomingMessage>);
    expect(passedOn).toBe(!isAnswered);
  });
});
