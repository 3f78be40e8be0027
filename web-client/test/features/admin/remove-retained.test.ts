import { expect, onTestFinished, test, vi } from 'vitest';
import { AdminApi } from '../../../src/features/admin/admin-api.ts';
import { removeTopics, topicsOf } from '../../../src/features/admin/remove-retained.ts';

const API = new AdminApi(
  { url: 'http://broker.example/api/v5', access: 'local', isDeployment: false, hasTenants: false },
  undefined,
);

/** A broker that answers what `answer` says. */
function broker(answer: (path: string) => Response | Promise<Response>): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (url: string) => {
    const path = url.slice('http://broker.example/api/v5'.length);
    asked.push(path);
    return await answer(path);
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return asked;
}

const topics = Array.from({ length: 40 }, (_, number) => `plant/${number}`);

test('every topic is removed once, a few at a time', async () => {
  let under = 0;
  let most = 0;
  const asked = broker(async () => {
    under += 1;
    most = Math.max(most, under);
    await Promise.resolve();
    under -= 1;
    return new Response(null, { status: 204 });
  });
  const removal = await removeTopics(API, topics, () => {}, new AbortController().signal);
  expect(removal).toEqual({ removed: 40, failed: 0, problem: undefined });
  expect(asked.toSorted()).toEqual(
    topics.map((topic) => `/mqtt/retainer/message/${encodeURIComponent(topic)}`).toSorted(),
  );
  expect(most).toBeLessThanOrEqual(8);
});

test('one that has gone meanwhile counts as removed, and a refusal is told with its reason', async () => {
  broker((path) => {
    if (path.endsWith('0')) return new Response('{"message":"gone"}', { status: 404 });
    if (path.endsWith('7')) return new Response('{"message":"The disk is full."}', { status: 500 });
    return new Response(null, { status: 204 });
  });
  const removal = await removeTopics(API, topics, () => {}, new AbortController().signal);
  expect(removal).toEqual({ removed: 36, failed: 4, problem: 'The disk is full.' });
});

test('a topic that a URL would resolve stands in the query', async () => {
  const asked = broker(() => new Response(null, { status: 204 }));
  await removeTopics(API, ['..', 'a/..'], () => {}, new AbortController().signal);
  expect(asked).toEqual(['/mqtt/retainer/message/?topic=..', '/mqtt/retainer/message/a%2F..']);
});

test('a removal that is stopped asks for no more', async () => {
  const stop = new AbortController();
  const asked = broker(() => {
    stop.abort();
    return new Response(null, { status: 204 });
  });
  await removeTopics(API, topics, () => {}, stop.signal);
  expect(asked.length).toBeLessThanOrEqual(8);
});

test('the topics of a filter are read page by page', async () => {
  broker((path) => {
    const page = Number(new URLSearchParams(path.split('?')[1]).get('page'));
    return Response.json({ data: [{ topic: `a/${page}` }], meta: { page, hasnext: page < 3 } });
  });
  expect(await topicsOf(API, 'a/#', new AbortController().signal)).toEqual(['a/1', 'a/2', 'a/3']);
});
