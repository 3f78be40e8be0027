import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { nodeForTest } from './support/nodes.ts';

interface Answer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly data?: readonly object[]; readonly meta?: object };
}

async function call(httpUrl: string, path: string, method = 'GET', body?: unknown): Promise<Answer> {
  const response = await fetch(new URL(`/api/v5/banned${path}`, httpUrl), {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function connackOf(url: string, clientId: string): Promise<unknown> {
  const { client, connack } = await RawClient.connect(url, { clientId });
  client.close();
  return connack.reasonCode;
}

describe('/api/v5/banned, as EMQX has it', () => {
  test('takes a ban, lists it and takes it back', async () => {
    const { httpUrl } = await nodeForTest();
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const sent = {
      as: 'clientid',
      who: 'a/b',
      by: 'me',
      reason: 'spam',
      at: '2026-01-31T12:00:00.000Z',
      until,
    };
    expect(await call(httpUrl, '', 'POST', sent)).toEqual({ status: 200, body: sent });
    await call(httpUrl, '', 'POST', { as: 'peerhost', who: '2001:0db8::1' });
    const { body } = await call(httpUrl, '');
    expect(body).toMatchObject({
      data: [sent, { as: 'peerhost', who: '2001:db8::1', by: 'mgmt_api', reason: '', until: 'infinity' }],
      meta: { page: 1, limit: 100, count: 2, hasnext: false, next: null },
    });
    expect((await call(httpUrl, '?clientid=a%2Fb')).body.data).toEqual([sent]);
    expect((await call(httpUrl, '?username=a%2Fb')).body.data).toEqual([]);
    expect((await call(httpUrl, '/clientid/a%2Fb', 'DELETE')).status).toBe(204);
    expect((await call(httpUrl, '', 'DELETE')).status).toBe(204);
    expect((await call(httpUrl, '')).body.data).toEqual([]);
  });
});

describe('a ban of a node with a data directory', () => {
  function directoryForTest(): string {
    const directory = mkdtempSync(join(tmpdir(), 'apus-bans-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
  }

  test('survives a restart, and is gone for good when it was taken back', async () => {
    const dataDirectory = directoryForTest();
    const first = await nodeForTest({ dataDirectory });
    for (const who of ['pest', 'pardoned']) await call(first.httpUrl, '', 'POST', { as: 'clientid', who });
    await call(first.httpUrl, '/clientid/pardoned', 'DELETE');
    await first.stop();
    const second = await nodeForTest({ dataDirectory });
    expect((await call(second.httpUrl, '')).body.data).toMatchObject([{ as: 'clientid', who: 'pest' }]);
    expect(await connackOf(second.url, 'pest')).toBe(0x8a);
    expect(await connackOf(second.url, 'pardoned')).toBe(0);
  });

  test('that ended while the node was down is not in force', async () => {
    const dataDirectory = directoryForTest();
    const first = await nodeForTest({ dataDirectory });
    const until = new Date(Date.now() + 50).toISOString();
    await call(first.httpUrl, '', 'POST', { as: 'clientid', who: 'pest', until });
    await first.stop();
    await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(until));
    const second = await nodeForTest({ dataDirectory });
    expect((await call(second.httpUrl, '')).body.data).toEqual([]);
    expect(await connackOf(second.url, 'pest')).toBe(0);
  });
});
