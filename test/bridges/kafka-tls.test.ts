import { readFileSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { openBridges, readBridges } from '@apus/bridges';
import { clientFor, collector, nodeForTest, statusOf, untilConnected } from '@apus/bridges/testing';
import { Admin } from '@platformatic/kafka';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { needs, needsAll } from '../support/skips.ts';
import { unique } from '../support/unique.ts';
import { makeCertificates } from './certificates.ts';
import { kafkaOrSkip } from './kafka-or-skip.ts';

const ARRIVAL = { timeout: 60_000, interval: 50 };
const USER = { username: 'apus', password: 'secret' };
const MODULES = 'org.apache.kafka.common.security';
const OF_USER = `username="${USER.username}" password="${USER.password}"`;
const NEEDED = needsOpenssl();
const { directory, remove } = NEEDED.skip ? { directory: '', remove: () => {} } : makeCertificates();
afterAll(remove);

/** Kafka reads a key and its certificate from one file. */
function keyStore(name: string): string {
  const path = join(directory, `${name}.store.pem`);
  writeFileSync(
    path,
    ['key', 'pem'].map((ending) => readFileSync(join(directory, `${name}.${ending}`))).join(''),
  );
  return path;
}

const kafka = NEEDED.skip
  ? undefined
  : await kafkaOrSkip({
      listener: 'SASL_SSL',
      properties: [
        'ssl.keystore.type=PEM',
        `ssl.keystore.location=${keyStore('server')}`,
        'ssl.truststore.type=PEM',
        `ssl.truststore.location=${join(directory, 'ca.pem')}`,
        'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        'sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512',
        `listener.name.sasl_ssl.plain.sasl.jaas.config=${MODULES}.plain.PlainLoginModule required ${OF_USER} user_apus="secret";`,
        ...['scram-sha-256', 'scram-sha-512'].map(
          (name) =>
            `listener.name.sasl_ssl.${name}.sasl.jaas.config=${MODULES}.scram.ScramLoginModule required ${OF_USER};`,
        ),
      ],
      formatArguments: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
        '--add-scram',
        `${mechanism}=[name=${USER.username},password=${USER.password}]`,
      ]),
    });

async function nodeWith(given: object, mappings: object) {
  const place = { where: 'b', directory, environment: {}, nowMs: Date.now() + 5_000 };
  const bridge = { name: unique('tls'), kafka: { brokers: [kafka?.address ?? ''], ...given }, ...mappings };
  return await nodeForTest({ openBridges: openBridges(readBridges({ bridges: [bridge] }, place)) });
}

async function topic(): Promise<string> {
  const name = unique('topic');
  const admin = new Admin({
    ...{ clientId: 'test', bootstrapBrokers: [kafka?.address ?? ''] },
    tls: { ca: readFileSync(join(directory, 'ca.pem')) },
    sasl: { mechanism: 'SCRAM-SHA-512', ...USER },
  });
  await admin.createTopics({ topics: [name], partitions: 1, replicas: 1 });
  await admin.close();
  return name;
}

const OUT = { out: [{ filter: 'a', topic: 'topic' }] };

describe('a bridge to Kafka over TLS', needsAll(NEEDED, needs('kafka', kafka)), () => {
  test.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])(
    'with SASL %s carries messages both ways',
    async (mechanism) => {
      const name = await topic();
      const node = await nodeWith(
        { tls: { ca: 'ca.pem' }, sasl: { mechanism, ...USER } },
        { out: [{ filter: 'there', topic: name }], in: [{ topic: name, to: 'here/{key}' }] },
      );
      await untilConnected(node);
      const { packets } = await collector(node.url, 'here/#');
      const client = await clientFor(node.url);
      await client.publishAsync('there', '1', { qos: 1 });
      await expect.poll(() => packets.length, ARRIVAL).toBe(1);
      expect(packets[0]).toMatchObject({ topic: 'here/there', payload: Buffer.from('1') });
    },
  );

  const sasl = { mechanism: 'SCRAM-SHA-512', ...USER };
  const errorOf = async (node: Parameters<typeof statusOf>[0]) => (await statusOf(node)).last_error;

  test('says that the password is wrong', async () => {
    const node = await nodeWith({ tls: { ca: 'ca.pem' }, sasl: { ...sasl, password: 'other' } }, OUT);
    await expect.poll(() => errorOf(node), ARRIVAL).toMatch(/authentication/i);
    expect((await statusOf(node)).status).toBe('disconnected');
  });

  test('says that it does not know the authority of the certificate', async () => {
    const node = await nodeWith({ tls: {}, sasl }, OUT);
    await expect.poll(() => errorOf(node), ARRIVAL).toMatch(/self.signed certificate|unable to verify/);
  });

  test('says that the certificate of Kafka has expired', async () => {
    const [cert, key] = ['pem', 'key'].map((ending) => readFileSync(join(directory, `expired.${ending}`)));
    const server = createServer({ cert, key }, (socket) => socket.on('error', () => {}));
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const brokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`];
    const node = await nodeWith({ brokers, tls: { ca: 'ca.pem' }, sasl }, OUT);
    await expect.poll(() => errorOf(node), ARRIVAL).toMatch(/certificate has expired/);
  });

  test('refuses a certificate of its own that has expired before it starts', async () => {
    const tls = { ca: 'ca.pem', certificate: 'expired.pem', key: 'expired.key' };
    await expect(nodeWith({ tls, sasl }, OUT)).rejects.toThrow(
      /kafka\.tls\.certificate has expired: expired\.pem was valid until Jan {2}2 00:00:00 2020 GMT/,
    );
  });
});
