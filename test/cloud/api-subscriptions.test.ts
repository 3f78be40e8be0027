import type { ApiFunction } from '@apus/aws/lambda';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { call, KEYS } from './api-caller.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const [OWN, OTHER] = ['acme', 'others'];
/** Topic filters of each client: one client has many more than a page. */
const FILTERS: Readonly<Record<string, readonly string[]>> = {
  many: Array.from({ length: 17 }, (_, index) => `many/${index}/+`),
  ...Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`c${index}`, ['all/#', `own/${index}`]])),
  none: [],
};

interface Entry {
  readonly clientid: string;
  readonly topic: string;
}

interface Page {
  readonly data: readonly Entry[];
  readonly meta: { readonly next: string | null; readonly hasnext: boolean; readonly limit: number };
}

let world: InProcessWorld;
let handler: ApiFunction;
const programs: Program[] = [];

beforeAll(async () => {
  world = await startCloudInProcess({
    seed: 3,
    authenticator: {
      authenticate: ({ username: tenant = OWN }) => ({ tenant, name: 'ann', clientIds: ['+'] }),
    },
  });
  for (const tenant of [OWN, OTHER])
    for (const [clientId, filters] of Object.entries(FILTERS)) {
      const program = new Program(world.emulator, clientId, {
        ...{ clean: false, properties: { sessionExpiryInterval: 300 }, username: tenant },
      });
      programs.push(program);
      const own = tenant === OWN ? filters : ['secret/#'];
      if (own.length > 0) await program.mqtt.subscribeAsync([...own], { qos: 1 });
    }
});

afterAll(async () => {
  for (const { mqtt } of programs) await mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

async function ask(path: string, query = '', tenant = OWN): Promise<Page> {
  const headers = { 'apus-tenant': tenant };
  const answered = await call(handler, { method: 'GET', path }, { query, headers });
  expect(answered.status, answered.text).toBe(200);
  return answered.body as Page;
}

/** Every page of a list, until there is none behind it. */
async function pagesOf(path: string, query: string, tenant = OWN): Promise<readonly Page[]> {
  handler = world.apiFunction({ keysSha256: KEYS });
  const pages: Page[] = [];
  let after = '';
  do {
    // An operator has ten requests a second, of each environment.
    if (pages.length % 20 === 19) handler = world.apiFunction({ keysSha256: KEYS });
    const page = await ask(path, `?${query}${after}`, tenant);
    pages.push(page);
    after = page.meta.next === null ? '' : `&after=${encodeURIComponent(page.meta.next)}`;
  } while (after !== '' && pages.length < 500);
  return pages;
}

const namesOf = (entries: readonly Entry[]) => entries.map(({ clientid, topic }) => `${clientid} ${topic}`);
const all = Object.entries(FILTERS).flatMap(([clientId, filters]) =>
  filters.map((topic) => `${clientId} ${topic}`),
);

it.each([1, 2, 5, 17, 1_000])('lists each subscription of a tenant once, in pages of %i', async (limit) => {
  const pages = await pagesOf('/subscriptions', `limit=${limit}`);
  expect(namesOf(pages.flatMap(({ data }) => data)).sort()).toEqual([...all].sort());
  for (const { data } of pages) expect(data.length).toBeLessThanOrEqual(limit);
});

it('lists nothing of another tenant, whose sessions are in between [SEC-TENANT-4]', async () => {
  const pages = await pagesOf('/subscriptions', 'limit=3', OTHER);
  const topics = new Set(pages.flatMap(({ data }) => data.map(({ topic }) => topic)));
  expect(topics).toEqual(new Set(['secret/#']));
  // A cursor that names a client is read in the caller's own tenant.
  const [first] = await pagesOf('/subscriptions', 'limit=1');
  const stolen = await ask('/subscriptions', `?after=${first?.meta.next}`, OTHER);
  expect(stolen.data.every(({ topic }) => topic === 'secret/#')).toBe(true);
});

it('finds those of a client, of a filter, and those that match a topic', async () => {
  handler = world.apiFunction({ keysSha256: KEYS });
  const found = async (query: string) => namesOf((await ask('/subscriptions', query)).data).sort();
  expect(await found('?clientid=c3')).toEqual(['c3 all/#', 'c3 own/3']);
  expect(await found('?clientid=nobody')).toEqual([]);
  expect(await found('?topic=own/5')).toEqual(['c5 own/5']);
  expect(await found('?match_topic=many/4/x')).toEqual(['many many/4/+']);
  expect(await found('?qos=0')).toEqual([]);
});

it('lists each topic filter once, and those of the own tenant alone', async () => {
  const pages = await pagesOf('/topics', 'limit=7');
  const topics = pages.flatMap(({ data }) => data.map(({ topic }) => topic));
  expect(topics).toEqual([...new Set(Object.values(FILTERS).flat())].sort());
  const others = await pagesOf('/topics', '', OTHER);
  expect(others.flatMap(({ data }) => data)).toEqual([{ topic: 'secret/#', node: 'apus' }]);
});
