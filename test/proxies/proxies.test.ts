import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDoors } from '@apus/cli';
import { hashPassword, readIdentity } from '@apus/identity';
import { parseListenAddress } from '@apus/node';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';
import { makeCertificates } from '../bridges/certificates.ts';
import { freePort } from '../support/free-port.ts';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { needs, needsAll, skipFor } from '../support/skips.ts';
import { PROXIES, proxyOrSkip, startProxy } from './start-proxy.ts';

/** Another loopback address than that of the proxy: so a test sees whose address the broker knows. */
const CLIENT = '127.0.0.9';
const FORGED = '192.0.2.66';
const KEY = 'a-key-of-the-api-for-tests-of-proxies';
const TIMEOUT_MS = 60_000;

let certificates: ReturnType<typeof makeCertificates> | undefined;

/** By the first test that is not skipped: OpenSSL may be missing. */
function made(): ReturnType<typeof makeCertificates> {
  certificates ??= makeCertificates();
  return certificates;
}

afterAll(() => certificates?.remove());

const otherAddress = skipFor(process.platform !== 'linux' && 'need a second loopback address, as Linux has');

describe.each(PROXIES)('$name in front of a node', (proxy) => {
  const program = proxyOrSkip(proxy);
  const needed = {
    ...needsAll(needs(proxy.name, program), needsOpenssl(), otherAddress),
    timeout: TIMEOUT_MS,
  };

  /** A node as docs/behind-a-proxy.md starts it, and the proxy with its file of infra/proxies. */
  async function start() {
    const { directory } = made();
    const users = join(directory, `${proxy.name}-users.json`);
    const ada = { name: 'ada', password: await hashPassword(Buffer.from('secret')) };
    writeFileSync(users, JSON.stringify({ users: [{ ...ada, publish: ['#'], subscribe: ['#'] }] }));
    const tcp = await freePort();
    const node = await startDoors({
      ...{ port: 0, logLevel: 'silent', apiKey: KEY, serverKeepAliveSecondsMax: 4 },
      identity: readIdentity({ authenticators: [{ users: { file: users } }] }, 'test'),
      trustedProxies: ['127.0.0.1'],
      listen: [parseListenAddress(`tcp://127.0.0.1:${tcp}?proxy-protocol`)],
    });
    onTestFinished(() => node.stop());
    const ports = {
      web: await freePort(),
      mqtt: await freePort(),
      node: Number(new URL(node.url).port),
      tcp,
    };
    const stop = await startProxy(proxy, program ?? '', { directory, ports });
    onTestFinished(stop);
    return { node, ports };
  }

  function secure(more: IClientOptions = {}): IClientOptions {
    const ca = readFileSync(join(made().directory, 'ca.pem'));
    const wsOptions = { ca, localAddress: CLIENT, headers: { 'X-Forwarded-For': FORGED } };
    const credentials = {
      username: 'ada',
      password: 'secret',
      protocolVersion: 5,
      reconnectPeriod: 0,
    } as const;
    return { ...credentials, ca, wsOptions, ...more };
  }

  async function connect(url: string, more: IClientOptions = {}): Promise<MqttClient> {
    const client = await mqtt.connectAsync(url, secure(more));
    onTestFinished(() => void client.end(true));
    return client;
  }

  /** The address that the API, and so the log, the guessing limits and bans, have of a client. */
  async function addressOf(httpUrl: string, clientId: string): Promise<unknown> {
    const headers = { Authorization: `Bearer ${KEY}` };
    const response = await fetch(new URL(`/api/v5/clients/${clientId}`, httpUrl), { headers });
    return ((await response.json()) as { ip_address: unknown }).ip_address;
  }

  test(
    'WebSockets, the page and the API come through its TLS, with the address of the client',
    needed,
    async () => {
      const { node, ports } = await start();
      const client = await connect(`wss://localhost:${ports.web}/mqtt`, { clientId: 'web' });
      const seen: string[] = [];
      client.on('message', (topic, payload) => seen.push(`${topic} ${payload.length}`));
      await client.subscribeAsync('a/#', { qos: 1 });
      await client.publishAsync('a/b', Buffer.alloc(300_000), { qos: 1 });
      await expect.poll(() => seen).toEqual(['a/b 300000']);
      expect(await addressOf(node.httpUrl, 'web')).toBe(CLIENT);
      expect(await statusOf(`https://localhost:${ports.web}/healthz`)).toBe(200);
      expect(await statusOf(`https://localhost:${ports.web}/api/v5/clients`)).toBe(401);
    },
  );

  const testOfTcp = proxy.hasTcp ? test : undefined;
  testOfTcp?.('MQTT over TCP comes through its TLS with the PROXY protocol', needed, async () => {
    const { node, ports } = await start();
    const client = await connect(`mqtts://localhost:${ports.mqtt}`, {
      clientId: 'tcp',
      ...{ localAddress: CLIENT },
    });
    await client.publishAsync('a', 'b', { qos: 1 });
    expect(await addressOf(node.httpUrl, 'tcp')).toBe(CLIENT);
  });

  const testOfTimeout = proxy.hasIdleTimeout ? test : undefined;
  testOfTimeout?.(
    'a client of MQTT 5 that is silent outlives its idle time-out, as --server-keep-alive-seconds-max says',
    needed,
    async () => {
      const { ports } = await start();
      const url = `wss://localhost:${ports.web}/mqtt`;
      const client = await connect(url, { keepalive: 600 });
      let isOpen = true;
      client.on('close', () => {
        isOpen = false;
      });
      // Two idle time-outs of a connection that says nothing: the proxy cuts both times.
      for (let times = 0; times < 2; times += 1) expect(await closeCodeOfSilence(url)).toBe(1006);
      expect(isOpen).toBe(true);
      await client.publishAsync('a', 'still here', { qos: 1 });
    },
  );

  function closeCodeOfSilence(url: string): Promise<number> {
    const ca = readFileSync(join(made().directory, 'ca.pem'));
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url, 'mqtt', { ca });
      socket.on('close', resolve).on('error', reject);
    });
  }

  function statusOf(url: string): Promise<number | undefined> {
    const ca = readFileSync(join(made().directory, 'ca.pem'));
    return new Promise((resolve, reject) => {
      request(url, { ca }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  }
});

/** Traefik is not installed by a package manager: its files are only read. */
test('the files for Traefik are YAML whose names fit together', () => {
  const read = (name: string) =>
    parse(readFileSync(fileURLToPath(new URL(`../../infra/proxies/${name}`, import.meta.url)), 'utf8'));
  const { entryPoints, providers } = read('traefik.yaml');
  expect(providers.file.filename).toBe('traefik-routes.yaml');
  const { http, tcp } = read('traefik-routes.yaml');
  for (const { routers, services } of [http, tcp]) {
    for (const router of Object.values<{ entryPoints: string[]; service: string }>(routers)) {
      expect(Object.keys(services)).toContain(router.service);
      for (const entryPoint of router.entryPoints) expect(Object.keys(entryPoints)).toContain(entryPoint);
    }
  }
  expect(tcp.serversTransports[tcp.services.apus.loadBalancer.serversTransport].proxyProtocol.version).toBe(
    2,
  );
});
