import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Built } from './support/built.ts';

const TOPICS = fileURLToPath(new URL('../../../examples/portal/topics.json', import.meta.url));

describe('the web client as the broker serves it', () => {
  const built = new Built();

  /** `fetch` hides that it decompresses: the raw answer shows it. */
  async function get(url: URL, headers: Record<string, string> = {}): Promise<Response> {
    return await fetch(url, { headers: { 'accept-encoding': 'identity', ...headers } });
  }

  /** The file with the page's shell and its imports. */
  async function scriptUrl(pageUrl: string): Promise<URL> {
    const html = await (await get(new URL(pageUrl))).text();
    const [, path] = /<link rel="modulepreload"[^>]* href="([^"]+\/page-[^"]+)"/.exec(html) ?? [];
    if (path === undefined) throw new Error(`the page has no script: ${html}`);
    return new URL(path, pageUrl);
  }

  test('revalidates the page each time, with 304 if it is unchanged', async () => {
    const { pageUrl } = await built.serve();
    const first = await get(new URL(pageUrl));
    expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const second = await get(new URL(pageUrl), { 'if-none-match': first.headers.get('etag') ?? '' });
    expect(second.status).toBe(304);
  });

  test('lets files with a hash in their name be cached for ever, in a folder below the page', async () => {
    const { pageUrl } = await built.serve();
    const url = await scriptUrl(pageUrl);
    expect(url.pathname).toMatch(/^\/assets\/.+-[\w-]{8}\.js$/);
    const script = await get(url);
    expect(script.status).toBe(200);
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(script.headers.get('cache-control')).toContain('immutable');
  });

  test('compresses large text for clients that accept it, and only for them', async () => {
    const { pageUrl } = await built.serve();
    const url = await scriptUrl(pageUrl);
    const plain = await get(url);
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(plain.headers.get('vary')).toBe('Accept-Encoding');
    const refused = await get(url, { 'accept-encoding': 'gzip;q=0, identity' });
    expect(refused.headers.get('content-encoding')).toBeNull();
    const text = await plain.text();
    for (const [accepted, encoding] of [
      ['gzip', 'gzip'],
      ['gzip, br', 'br'],
    ] as const) {
      const compressed = await get(url, { 'accept-encoding': accepted });
      expect(compressed.headers.get('content-encoding')).toBe(encoding);
      expect(await compressed.text()).toBe(text);
    }
  });

  test('asks for the addresses of the doors and the API', async () => {
    const alone = await built.serve();
    const config = await get(new URL('config.json', alone.pageUrl));
    expect(config.headers.get('cache-control')).toBe('no-store');
    expect(await config.json()).toEqual({
      endpoints: [{ door: 'node', path: '/mqtt', maximumPacketSizeBytes: 2_097_152 }],
      api: { path: '/api/v5', access: 'local' },
    });
  });

  test('has the developers’ page in its folder if topics are described, and nowhere else', async () => {
    const without = await built.serve();
    for (const path of ['portal', 'portal/', 'portal/index.html'])
      expect((await get(new URL(path, without.pageUrl))).status).toBe(404);
    const { pageUrl } = await built.serve(['--topics', TOPICS]);
    const moved = await fetch(new URL('portal', pageUrl), { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, 'portal/']);
    const html = await (await get(new URL('portal/', pageUrl))).text();
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
    const answer = await get(new URL(script, new URL('portal/', pageUrl)));
    expect(answer.headers.get('cache-control')).toContain('immutable');
  });

  test('lists only the sources that it may load', async () => {
    const { pageUrl } = await built.serve();
    const policy = (await get(new URL(pageUrl))).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("worker-src 'self';");
    expect(policy).not.toContain('unsafe-eval');
  });
});
