import { expect, test } from 'vitest';
import { call } from './support/call-api.ts';
import { nodeForTest } from './support/nodes.ts';

interface Page {
  readonly data: readonly { readonly clientid: string }[];
  readonly meta: { readonly page: number; readonly hasnext: boolean; readonly next: string | null };
}

test('a list is read to its end by `after`, as at a deployment, and by `page`', async () => {
  const node = await nodeForTest();
  for (let index = 0; index < 5; index += 1) {
    const who = `bad-${index}`;
    const response = await fetch(new URL('/api/v5/banned', node.httpUrl), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ as: 'clientid', who }),
    });
    expect(response.status).toBe(200);
  }
  const ask = async (query: string) => (await call(node.httpUrl, `/banned?limit=2${query}`)).body as Page;
  const seen: unknown[] = [];
  let next: string | null = null;
  let pages = 0;
  do {
    const { data, meta }: Page = await ask(next === null ? '' : `&after=${next}`);
    seen.push(...data);
    next = meta.next;
    pages += 1;
    expect(meta).toMatchObject({ page: pages, hasnext: next !== null });
    expect(await ask(`&page=${pages}`)).toEqual({ data, meta });
  } while (next !== null);
  expect([pages, seen.length]).toEqual([3, 5]);
});

test.each(['after=', 'after=x', 'after=0', 'after=-1', 'after=2&page=2', 'after=9999999999'])(
  'a list refuses %s',
  async (query) => {
    const node = await nodeForTest();
    expect(await call(node.httpUrl, `/banned?${query}`)).toMatchObject({
      status: 400,
      body: { message: 'after is meta.next of the page before, and is not given with page.' },
    });
  },
);
