import { once } from 'node:events';
import { copyFileSync, readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { readIdentity } from '@apus/identity';
import * as mqtt from 'mqtt';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { makeCertificates } from '../../../../test/bridges/certificates.ts';
import { needsOpenssl } from '../../../../test/support/openssl-or-skip.ts';
import { type NodeOptions, parseListenAddress } from '../../src/index.ts';
import { Certificates } from '../../src/listening/certificates.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';
import { nodeForTest } from '../support/nodes.ts';

/** The next message of the client: its topic and payload. */
function messageOf(client: mqtt.MqttClient): Promise<[string, Buffer]> {
  return new Promise((resolve) => client.once('message', (topic, payload) => resolve([topic, payload])));
}

const KEY = { name: 'meter', key: 'k'.repeat(32) };
const NO_AUTHORITIES = { ca: [], crl: [] };

describe('TLS', needsOpenssl(), () => {
  let directory = '';

  beforeAll(() => {
    const made = makeCertificates();
    directory = made.directory;
    return () => made.remove();
  });

  const file = (name: string) => join(directory, name);
  const filesOf = (name: string) => ({ cert: file(`${name}.pem`), key: file(`${name}.key`) });

  async function listening(addresses: readonly string[], options: NodeOptions = {}) {
    const log: Record<string, unknown>[] = [];
    const node = await nodeForTest({
      ...{
        logLevel: 'info',
        logSink: ({ event, fields }) => log.push({ event, ...fields }),
        certificates: [filesOf('server')],
      },
      ...{ listen: addresses.map(parseListenAddress), ...options },
    });
    return { node, urls: node.urls.slice(1), log };
  }

  async function connected(url: string): Promise<mqtt.MqttClient> {
    const ca = readFileSync(file('ca.pem'));
    const client = await mqtt.connectAsync(url.replace('tls:', 'mqtts:'), { ca, reconnectPeriod: 0 });
    onTestFinished(() => void client.end(true));
    return client;
  }

  test('carries MQTT over TCP and over WebSocket, the page and the API', async () => {
    const { urls } = await listening(['tls://127.0.0.1:0', 'wss://127.0.0.1:0']);
    const [tls = '', wss = ''] = urls;
    const [one, other] = [await connected(tls), await connected(wss)];
    await one.subscribeAsync('t', { qos: 1 });
    const received = messageOf(one);
    await other.publishAsync('t', Buffer.alloc(300_000, 'x'), { qos: 1 });
    expect((await received)[1].length).toBe(300_000);
    const socket = connectTls({ port: Number(new URL(wss).port), ca: readFileSync(file('ca.pem')) });
    onTestFinished(() => void socket.destroy());
    socket.write('GET /api/v5/clients HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toContain('"clientid"');
  });

  test('is of version 1.2 at least', async () => {
    const { urls } = await listening(['tls://127.0.0.1:0']);
    const socket = connectTls({
      ...{ port: Number(new URL(urls[0] ?? '').port), rejectUnauthorized: false },
      ...{ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    });
    const [error] = await once(socket, 'error').catch((thrown) => [thrown]);
    expect(error).toBeInstanceOf(Error);
  });

  test('refuses what is no TLS, and goes on', async () => {
    const { urls, log } = await listening(['tls://127.0.0.1:0']);
    const socket = connectTcp(Number(new URL(urls[0] ?? '').port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(Buffer.of(0x10, 0x0c, 0, 4));
    socket.write(Buffer.alloc(100));
    await once(socket.resume(), 'close');
    expect(log).toContainEqual(expect.objectContaining({ event: 'tls-refused' }));
    await connected(urls[0] ?? '');
  });

  test('cuts a handshake that never ends', async () => {
    const { urls } = await listening(['tls://127.0.0.1:0'], { handshakeTimeoutSeconds: 1 });
    const socket = connectTcp(Number(new URL(urls[0] ?? '').port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(Buffer.of(0x16, 3, 1, 1, 0));
    await once(socket.resume(), 'close');
  });

  test('has a certificate, and its key', async () => {
    await expect(listening(['tls://127.0.0.1:0'], { certificates: [] })).rejects.toThrow('--tls-cert FILE');
    const mixed = { ...filesOf('server'), key: file('client.key') };
    await expect(listening(['tls://127.0.0.1:0'], { certificates: [mixed] })).rejects.toThrow(
      'are no certificate with its key',
    );
    const missing = { ...filesOf('server'), key: file('none.key') };
    await expect(listening(['tls://127.0.0.1:0'], { certificates: [missing] })).rejects.toThrow(
      'none.key cannot be read',
    );
  });

  test('gives new connections the certificate that was exchanged, and cuts no other', async () => {
    for (const extension of ['pem', 'key'])
      copyFileSync(file(`server.${extension}`), file(`own.${extension}`));
    const log: string[] = [];
    const own = { ...filesOf('own') };
    const logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [level, (event: string) => log.push(event)]),
    );
    const certificates = new Certificates([own], NO_AUTHORITIES, logger as never, new FakeScheduler());
    const first = certificates.first;
    certificates.look();
    expect(certificates.first).toBe(first);
    copyFileSync(file('client.pem'), own.cert);
    certificates.look();
    // The key is still the other one: what was read before stays in force.
    expect([certificates.first === first, log.at(-1)]).toEqual([true, 'certificates-not-read']);
    copyFileSync(file('client.key'), own.key);
    certificates.look();
    expect([certificates.first === first, log.at(-1)]).toEqual([false, 'certificates-read']);
  });

  test('reads certificates again when it is asked to, and keeps the connections that it has', async () => {
    for (const extension of ['pem', 'key'])
      copyFileSync(file(`server.${extension}`), file(`asked.${extension}`));
    // Its clock does not move: nothing is looked at by itself.
    const options = { certificates: [filesOf('asked')], clock: new FakeScheduler() };
    const { node, urls, log } = await listening(['tls://127.0.0.1:0'], options);
    const client = await connected(urls[0] ?? '');
    for (const extension of ['pem', 'key'])
      copyFileSync(file(`client.${extension}`), file(`asked.${extension}`));
    expect(log.map(({ event }) => event)).not.toContain('certificates-read');
    await node.reread();
    expect(log.map(({ event }) => event)).toContain('certificates-read');
    await client.publishAsync('t', 'still here', { qos: 1 });
  });

  test('says each day that a certificate has expired', () => {
    const clock = new FakeScheduler();
    const log: string[] = [];
    const logger = Object.fromEntries(
      ['debug', 'info', 'warn', 'error'].map((level) => [level, (event: string) => log.push(event)]),
    );
    const certificates = new Certificates([filesOf('expired')], NO_AUTHORITIES, logger as never, clock);
    certificates.look();
    certificates.look();
    expect(log.filter((event) => event === 'certificate-expired')).toHaveLength(1);
    clock.advance(24 * 3_600_000);
    certificates.look();
    expect(log.filter((event) => event === 'certificate-expired')).toHaveLength(2);
  });

  describe('with certificates of clients', () => {
    const identity = (fields: object) =>
      readIdentity({ authenticators: [{ certificate: fields }, { apiKeys: { keys: [KEY] } }] }, 'identity');
    const optionsOf = (name: string | undefined, more: mqtt.IClientOptions): mqtt.IClientOptions => ({
      ...{ ca: readFileSync(file('ca.pem')), reconnectPeriod: 0, protocolVersion: 5, ...more },
      ...(name !== undefined && {
        cert: readFileSync(file(`${name}.pem`)),
        key: readFileSync(file(`${name}.key`)),
      }),
    });
    const connectAs = (url: string, name: string | undefined, more: mqtt.IClientOptions = {}) =>
      mqtt.connectAsync(url.replace('tls:', 'mqtts:'), optionsOf(name, more));
    const ended = (client: mqtt.MqttClient) => onTestFinished(() => void client.end(true));
    /** The reason code of CONNACK, or undefined where there is none. */
    const refusal = (url: string, name: string | undefined, more: mqtt.IClientOptions = {}) =>
      new Promise<number | undefined>((resolve) => {
        const client = mqtt.connect(url.replace('tls:', 'mqtts:'), optionsOf(name, more));
        ended(client);
        client.on('error', (error) => resolve((error as { code?: number }).code));
        client.on('close', () => resolve(undefined));
      });

    test.each(['tls', 'wss'])(
      'over %s the name is that of the certificate, and rules hold for it',
      async (scheme) => {
        const { urls } = await listening([`${scheme}://127.0.0.1:0`], {
          clientAuthorities: { ca: [file('ca.pem')], crl: [] },
          identity: identity({ defaultRules: { publish: ['%u/#'], subscribe: ['%u/#'] } }),
        });
        const client = await connectAs(urls[0] ?? '', 'client');
        ended(client);
        const received = messageOf(client);
        await client.subscribeAsync('client/a', { qos: 1 });
        await client.publishAsync('client/a', 'x', { qos: 1 });
        expect((await received)[0]).toBe('client/a');
        await expect(client.publishAsync('server/a', 'x', { qos: 1 })).rejects.toThrow('Not authorized');
      },
    );

    test('a client without one shows something else, unless the address requires one', async () => {
      const options = {
        clientAuthorities: { ca: [file('ca.pem')], crl: [] },
        identity: identity({ nameFrom: 'dns', defaultRules: { publish: ['#'], subscribe: [] } }),
      };
      const { urls, log } = await listening(
        ['tls://127.0.0.1:0', 'tls://127.0.0.1:0?client-certificate=required'],
        options,
      );
      const [asked = '', required = ''] = urls;
      ended(await connectAs(asked, undefined, { username: 'meter', password: KEY.key }));
      expect(await refusal(asked, undefined)).toBe(0x87);
      expect(await refusal(required, undefined, { username: 'meter', password: KEY.key })).toBeUndefined();
      expect(log).toContainEqual(
        expect.objectContaining({ event: 'tls-refused', error: 'it shows no certificate' }),
      );
      ended(await connectAs(required, 'client'));
    });

    test.each([
      ['expired', 'CERT_HAS_EXPIRED'],
      ['stranger', 'UNABLE_TO_GET_CRL'],
      ['client', 'CERT_REVOKED'],
    ])('that of %s is refused: %s', async (name, reason) => {
      const { urls, log } = await listening(['tls://127.0.0.1:0'], {
        clientAuthorities: { ca: [file('ca.pem')], crl: [file('crl.pem')] },
        identity: identity({}),
      });
      expect(await refusal(urls[0] ?? '', name)).not.toBe(0);
      expect(log).toContainEqual(
        expect.objectContaining({ event: 'tls-refused', error: expect.stringContaining(reason) }),
      );
      ended(await connectAs(urls[0] ?? '', 'server'));
    });
  });

  test('is as quick at being closed as a WebSocket', async () => {
    const { node, urls } = await listening(['wss://127.0.0.1:0']);
    const socket = new WebSocket(urls[0] ?? '', 'mqtt', { ca: readFileSync(file('ca.pem')) });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    await node.stop();
    expect((await closed)[0]).toBe(1001);
  });
});
