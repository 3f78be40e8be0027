import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Message } from '@apus/broker';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificates } from '../../../../test/bridges/certificates.ts';
import { needsOpenssl } from '../../../../test/support/openssl-or-skip.ts';
import { readRules } from '../../src/index.ts';
import type { WebhookConfiguration } from '../../src/rules/configuration/webhook.ts';
import { Webhook } from '../../src/rules/targets/webhook.ts';
import { LOOPBACK } from '../support/ruled.ts';

const MESSAGE: Message = {
  ...{ id: 'id', topic: 'a', payload: Buffer.from('x'), qos: 1, retain: false, properties: {} },
  ...{ expiresAtMs: undefined, publisherKey: undefined },
};

let directory: string;
let received: string[];

beforeEach(() => {
  const certificates = makeCertificates();
  directory = certificates.directory;
  onTestFinished(certificates.remove);
  received = [];
});

/** An HTTPS server with a certificate of the folder. @returns its port */
async function startServer(name: string): Promise<number> {
  const file = (extension: string) => readFileSync(join(directory, `${name}.${extension}`));
  const server = createServer({ key: file('key'), cert: file('pem') }, async (request, response) => {
    for await (const chunk of request) received.push(String(chunk));
    response.end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function webhookTo(url: string, fields: object = {}): Webhook {
  const webhook = { url, allowAddresses: LOOPBACK, ...fields };
  const place = { where: 'r', directory, environment: {}, nowMs: Date.now() + 5_000 };
  const [rule] = readRules({ rules: [{ name: 'r', filter: '#', to: { webhook } }] }, place);
  const made = new Webhook('r', rule?.to as WebhookConfiguration, (_name, _options, callback) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]),
  );
  onTestFinished(() => made.stop());
  return made;
}

describe('a webhook over TLS', needsOpenssl(), () => {
  test('reaches a server with a certificate of the configured authority', async () => {
    const port = await startServer('server');
    expect(await webhookTo(`https://localhost:${port}/`, { ca: 'ca.pem' }).send([MESSAGE])).toBeUndefined();
    expect(received).toHaveLength(1);
  });

  test.each([
    ['of an authority that it does not know', 'server', 'localhost', {}, /self.signed|unable to verify/],
    ['that has expired', 'expired', 'localhost', { ca: 'ca.pem' }, /expired/],
    ['of another name', 'server', 'other.example', { ca: 'ca.pem' }, /altnames/],
  ])('says nothing to a server with a certificate %s', async (_, name, host, fields, error) => {
    const port = await startServer(name);
    const failure = await webhookTo(`https://${host}:${port}/`, fields).send([MESSAGE]);
    expect(failure).toMatchObject({ isPermanent: false, error: expect.stringMatching(error) });
    expect(received).toEqual([]);
  });
});
