import { describe, expect, test } from 'vitest';
import { nodeForTest } from './support/nodes.ts';

const KEY = 'a-key-of-more-than-22-characters';

async function post(
  httpUrl: string,
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

describe('POST /api/v5/publish at the node', () => {
  test('takes a bulk, and says where there are no subscribers', async () => {
    const node = await nodeForTest();
    const { status, body } = await post(node.httpUrl, '/publish/bulk', [{ topic: 'a', payload: 'x' }]);
    expect([status, body]).toEqual([202, [{ reason_code: 16, message: 'no_matching_subscribers' }]]);
  });

  test('refuses what is no JSON, too large, or of another type', async () => {
    const { httpUrl } = await nodeForTest();
    expect(await post(httpUrl, '/publish', '{"topic"')).toMatchObject({ status: 400 });
    expect(await post(httpUrl, '/publish', ' '.repeat(4 * 1024 * 1024 + 1))).toMatchObject({ status: 413 });
    const text = { 'content-type': 'text/plain' };
    expect(await post(httpUrl, '/publish', '{}', text)).toMatchObject({ status: 415 });
  });

  test('is as open as the rest of the API', async () => {
    const { httpUrl } = await nodeForTest({ apiKey: KEY });
    const message = { topic: 'a', payload: 'x' };
    expect((await post(httpUrl, '/publish', message)).status).toBe(401);
    const authorization = `Basic ${Buffer.from(`any:${KEY}`).toString('base64')}`;
    expect((await post(httpUrl, '/publish', message, { authorization })).status).toBe(202);
    const page = { origin: 'https://elsewhere.example' };
    const open = await nodeForTest();
    expect((await post(open.httpUrl, '/publish', message, page)).status).toBe(403);
  });

  test('keeps the topics of the server to the server', async () => {
    const { httpUrl } = await nodeForTest();
    const { status, body } = await post(httpUrl, '/publish', { topic: '$SYS/uptime', payload: 'x' });
    expect([status, body.reason_code]).toEqual([403, 0x87]);
  });
});
