import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFallback } from '@apus/client/fallback';
import { startNode } from '@apus/node';
import * as mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROXIES, proxyOrSkip } from '../proxies/start-proxy.ts';
import { freePort } from '../support/free-port.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { end, launch } from '../support/program.ts';
import { needs } from '../support/skips.ts';

const nginx = PROXIES.find(({ name }) => name === 'nginx');
const program = nginx && proxyOrSkip(nginx);
const ARRIVAL = { timeout: PATIENCE_MS, interval: 10 };

/** nginx as one configures it for a web app: it passes no upgrade on, and asks with HTTP/1.0. */
function configuration(directory: string, port: number, target: string, lines: string): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${join(directory, kind)};`,
  );
  return `events { worker_connections 64; }
http {
  access_log off;
  ${folders.join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass ${target}; proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; ${lines} }
  }
}
`;
}

describe('stock mqtt.js behind nginx without WebSockets', needs('nginx', program), () => {
  it.each([
    ['as it comes', ''],
    ['that keeps responses until they are whole', 'proxy_ignore_headers X-Accel-Buffering;'],
    ['that cuts a response after a second of silence', 'proxy_read_timeout 1s;'],
  ])('%s: QoS 2, in order, on one connection', async (_, lines) => {
    const node = await startNode({ port: 0, logLevel: 'silent', trustedProxies: ['127.0.0.1'] });
    onTestFinished(() => node.stop());
    const directory = mkdtempSync(join(tmpdir(), 'apus-nginx-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    // Started as root, nginx has workers of another user.
    chmodSync(directory, 0o755);
    const port = await freePort();
    const file = join(directory, 'nginx.conf');
    writeFileSync(file, configuration(directory, port, new URL(node.httpUrl).origin, lines));
    const options = `daemon off; pid ${join(directory, 'nginx.pid')};`;
    const child = await launch(program ?? '', ['-c', file, '-e', 'stderr', '-g', options], port);
    onTestFinished(() => end(child, 'SIGTERM'));
    const { createWebsocket, statistics } = createFallback();
    const url = `ws://127.0.0.1:${port}/mqtt`;
    const client = await mqtt.connectAsync(url, { createWebsocket, protocolVersion: 5 }, false);
    onTestFinished(() => client.endAsync());
    const texts: string[] = [];
    client.on('message', (_topic, payload) => texts.push(payload.toString()));
    await client.subscribeAsync('a', { qos: 2 });
    const beganMs = performance.now();
    for (let count = 0; performance.now() - beganMs < 3_000; count += 1)
      await client.publishAsync('a', `${count}`, { qos: 2 });
    await client.publishAsync('a', 'last', { qos: 2 });
    await expect.poll(() => texts.at(-1), ARRIVAL).toBe('last');
    expect(texts.slice(0, -1)).toEqual(texts.slice(0, -1).map((_each, index) => `${index}`));
    expect(statistics).toMatchObject({ wire: 'http', opened: { websocket: 0, http: 1 } });
  });
});
