import { expect, test } from 'vitest';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

test('POST /api/v5/publish makes no member present', async () => {
  const { httpUrl } = await nodeForTest();
  const response = await fetch(new URL('/api/v5/publish', httpUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ topic: '$presence/hall/ann', payload: 'here' }),
  });
  expect(response.status).toBe(400);
  expect((await call(httpUrl, '/presence/hall')).body).toMatchObject({ data: [] });
});
