import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { ClientPage } from './support/client-page.ts';
import { clientSuite } from './support/client-suite.ts';

/** All that a fresh page fetches until it shows its first message, each file compressed with gzip. */
const PAGE_WEIGHT_BYTES_MAX = 338 * 1024;

interface Weight {
  readonly path: string;
  readonly bytes: number;
}

clientSuite('the weight of the web client', (suite) => {
  /** The files that a fresh page fetches from its own address until it shows the message, the largest first. */
  async function weigh(shown: (client: ClientPage) => Promise<void>): Promise<Weight[]> {
    const paths = new Set<string>();
    const context = await suite.newContext({ isNew: true });
    context.on('request', (request) => paths.add(new URL(request.url()).pathname));
    const client = await suite.openUrl(suite.served.pageUrl, { context });
    await shown(client);
    const fetched = [...paths];
    const weights = await Promise.all(
      fetched.map(async (path) => ({ path, bytes: await gzippedBytes(path) })),
    );
    return weights.toSorted((one, other) => other.bytes - one.bytes);
  }

  async function gzippedBytes(path: string): Promise<number> {
    const response = await fetch(new URL(path, suite.served.pageUrl));
    const body = new Uint8Array(await response.arrayBuffer());
    return response.ok ? gzipSync(body).length : 0;
  }

  it('is at most 338 KiB gzipped from its own address to the first message, its worker among it', async () => {
    await suite.other.publishAsync('hello/weight', 'x', { qos: 1, retain: true });
    const weights = await weigh(async (client) => {
      await client.openView('Messages');
      await client.rows('hello/weight').waitFor();
    });
    const bytes = weights.reduce((sum, weight) => sum + weight.bytes, 0);
    const paths = weights.map(({ path }) => path).join(' ');
    expect(paths).toMatch(/worker.*\.js/);
    expect(bytes, weights.map(({ path, bytes: own }) => `${own} ${path}`).join('\n')).toBeLessThanOrEqual(
      PAGE_WEIGHT_BYTES_MAX,
    );
  });
});
