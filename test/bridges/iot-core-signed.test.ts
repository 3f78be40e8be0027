import { openBridges, readBridges } from '@apus/bridges';
import { clientFor, collector, nodeForTest, statusOf, untilConnected } from '@apus/bridges/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { makeCertificates } from './certificates.ts';
import { startSignedStandIn } from './signed-stand-in.ts';

const CREDENTIALS = {
  accessKeyId: 'ASIAEXAMPLE',
  secretAccessKey: 'a-secret-of-tests',
  sessionToken: 'a token/with+signs=',
};
const BOTH = { filter: 'things/#' };

/** The AWS SDK finds the credentials here, as in a process on AWS. */
function useCredentials({ accessKeyId, secretAccessKey, sessionToken }: typeof CREDENTIALS): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', sessionToken);
}

beforeEach(() => {
  useCredentials(CREDENTIALS);
  onTestFinished(() => void vi.unstubAllEnvs());
});

async function bridged(fields: object) {
  const { directory, remove } = makeCertificates();
  onTestFinished(remove);
  const there = await nodeForTest({});
  const door = await startSignedStandIn(directory, Number(new URL(there.url).port), CREDENTIALS);
  const place = { where: 'b', directory, environment: {}, nowMs: Date.now() + 5_000 };
  const iotCore = {
    endpoint: `localhost:${door.port}`,
    region: 'eu-west-1',
    webSocket: true,
    tls: { ca: 'ca.pem' },
  };
  const bridge = { name: 'test', iotCore, ...fields };
  const here = await nodeForTest({ openBridges: openBridges(readBridges({ bridges: [bridge] }, place)) });
  return { there, door, here };
}

describe('a signed bridge to IoT Core', needsOpenssl(), () => {
  test('a bridge over a WebSocket signs its address, session token included, and carries messages both ways', async () => {
    const { there, door, here } = await bridged({ in: [{ filter: 'up/#' }], out: [{ filter: 'down/#' }] });
    await untilConnected(here);
    const [seenHere, seenThere] = [await collector(here.url, 'up/#'), await collector(there.url, 'down/#')];
    await (await clientFor(there.url)).publishAsync('up/a', 'from there', { qos: 1 });
    await (await clientFor(here.url)).publishAsync('down/a', 'from here', { qos: 1 });
    await expect.poll(() => seenHere.texts()).toEqual(['from there']);
    await expect.poll(() => seenThere.texts()).toEqual(['from here']);
    expect(door.refused).toEqual([]);
  });

  test('it signs each connection anew, with the credentials of that moment', async () => {
    const { door, here } = await bridged({ out: [BOTH] });
    await untilConnected(here);
    door.cut();
    await expect.poll(() => door.accepted.length).toBe(2);
    await untilConnected(here);
    useCredentials({ ...CREDENTIALS, secretAccessKey: 'another' });
    door.cut();
    await expect.poll(() => door.refused.length).toBeGreaterThan(0);
    useCredentials(CREDENTIALS);
    await untilConnected(here);
  });

  test('its state says that the endpoint refuses it', async () => {
    useCredentials({ ...CREDENTIALS, secretAccessKey: 'another' });
    const { here } = await bridged({ out: [BOTH] });
    await expect.poll(async () => (await statusOf(here)).last_error).toContain('403');
  });
});
