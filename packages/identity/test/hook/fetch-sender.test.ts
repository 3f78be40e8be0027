import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { fetchSender } from '../../src/index.ts';

const servers: { close(): void }[] = [];

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  servers.push({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`;
}

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const signal = new AbortController().signal;
const post = (url: string) => ({ method: 'POST', url, headers: {}, body: '{}' }) as const;

describe('a request of a hook over HTTP', () => {
  test('carries method, headers and body, and brings status, content type and body back', async () => {
    const seen: unknown[] = [];
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        seen.push([request.method, request.url, request.headers['x-source'], body]);
        response
          .writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          .end('{"result":"allow"}');
      });
    });
    const answer = await fetchSender(100).send({ ...post(url), headers: { 'x-source': 'apus' } }, signal);
    expect(seen).toEqual([['POST', '/auth', 'apus', '{}']]);
    expect(answer).toEqual({
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: '{"result":"allow"}',
    });
  });

  test('does not follow a redirect, which would carry a password elsewhere [SEC-HOOK-4]', async () => {
    let calls = 0;
    const elsewhere = await serve((_, response) => {
      calls += 1;
      response.writeHead(204).end();
    });
    const url = await serve((_, response) => response.writeHead(307, { location: elsewhere }).end());
    expect((await fetchSender(100).send(post(url), signal)).status).toBe(307);
    expect(calls).toBe(0);
  });

  test('cancels an answer that is longer than allowed [SEC-HOOK-4]', async () => {
    const url = await serve((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(1_000)));
      };
      response.on('drain', more);
      more();
    });
    await expect(fetchSender(10_000).send(post(url), signal)).rejects.toThrow('longer than 10000 bytes');
  });

  test('ends when it is aborted, even in the middle of an answer', async () => {
    const controller = new AbortController();
    const url = await serve((_, response) => {
      response.write('{');
      controller.abort();
    });
    await expect(fetchSender(100).send(post(url), controller.signal)).rejects.toThrow();
  });
});
