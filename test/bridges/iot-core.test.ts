import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBridges, readBridges } from '@apus/bridges';
import { clientFor, collector, nodeForTest, statusOf, untilConnected } from '@apus/bridges/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { needs, needsAll } from '../support/skips.ts';
import { makeCertificates } from './certificates.ts';
import { startIotCoreStandIn } from './iot-core-stand-in.ts';
import { mosquittoOrSkip, startMosquitto } from './mosquitto-or-skip.ts';

const program = mosquittoOrSkip();
const TLS = { ca: 'ca.pem', certificate: 'client.pem', key: 'client.key' };
const BOTH = { filter: 'things/#' };

function certificatesForTest(): string {
  const { directory, remove } = makeCertificates();
  onTestFinished(remove);
  return directory;
}

async function bridgedTo(endpoint: string, directory: string, fields: object) {
  const place = { where: 'b', directory, environment: {}, nowMs: Date.now() + 5_000 };
  const bridge = { name: 'test', iotCore: { endpoint, tls: TLS }, ...fields };
  const node = await nodeForTest({ openBridges: openBridges(readBridges({ bridges: [bridge] }, place)) });
  await untilConnected(node);
  return node;
}

describe('a bridge to IoT Core, at a stand-in with its limits', needsOpenssl(), () => {
  async function bridged(fields: object) {
    const certificates = certificatesForTest();
    const there = await startIotCoreStandIn(certificates);
    const here = await bridgedTo(`localhost:${there.port}`, certificates, fields);
    return { there, here, certificates };
  }

  test('does not receive its own messages again, though the same topics cross in both directions', async () => {
    const { there, here } = await bridged({ in: [BOTH], out: [BOTH] });
    const seen = await collector(here.url, '#');
    const publisher = await clientFor(here.url);
    for (const text of ['1', '2']) await publisher.publishAsync('things/lamp', text, { qos: 1 });
    await expect.poll(() => there.published.length).toBe(2);
    await publisher.publishAsync('end', 'end', { qos: 1 });
    await expect.poll(() => seen.texts().at(-1)).toBe('end');
    expect(seen.texts()).toEqual(['1', '2', 'end']);
    expect(there.published[0]?.properties?.userProperties).toEqual({
      'apus-bridge-hops': '1',
      'apus-bridge-from': 'apus-test',
    });
  });

  test('carries the answer of a device that copies the user properties of the request', async () => {
    const { there, here, certificates } = await bridged({ in: [BOTH], out: [{ filter: 'things/ask/#' }] });
    const file = (name: string) => readFileSync(join(certificates, name));
    const thing = await clientFor(`mqtts://localhost:${there.port}`, {
      ...{ ca: file('ca.pem'), cert: file('client.pem'), key: file('client.key') },
    });
    const seen = await collector(here.url, '#');
    const properties = { userProperties: { 'apus-bridge-from': 'apus-test' } };
    await thing.publishAsync('things/ask/lamp', 'comes from here', { qos: 1, properties });
    await thing.publishAsync('things/answer/lamp', 'on', { qos: 1, properties });
    await expect.poll(() => seen.packets.map(({ topic }) => topic)).toEqual(['things/answer/lamp']);
  });

  test('subscribes to eight topic filters at a time', async () => {
    const filters = Array.from({ length: 20 }, (_, index) => ({ filter: `things/${index}/#` }));
    const { there, here } = await bridged({ in: filters, out: [{ filter: 'things/19/#' }] });
    expect(there.ended).toEqual([]);
    expect((await statusOf(here)).status).toBe('connected');
  });

  test.each([
    ['more than seven slashes', 'things/1/2/3/4/5/6/7/8', 'x'],
    ['more than 256 bytes of topic', `things/${'t'.repeat(250)}`, 'x'],
    ['more than 128 KiB', 'things/a', 'x'.repeat(128 * 1024 + 1)],
  ])('refuses a message with %s, and goes on', async (_, topic, payload) => {
    const { there, here } = await bridged({ out: [BOTH] });
    const publisher = await clientFor(here.url);
    await publisher.publishAsync(topic, payload, { qos: 1 });
    await publisher.publishAsync('things/next', 'next', { qos: 1 });
    await expect.poll(() => there.published.map((packet) => packet.topic)).toEqual(['things/next']);
    expect((await statusOf(here)).out).toMatchObject({ refused: 1, forwarded: 1 });
    expect(there.ended).toEqual([]);
  });

  test('sends again the messages that the endpoint refuses because they come too fast (0x97), and gives up none', async () => {
    const { there, here } = await bridged({ out: [BOTH] });
    there.throttle(2);
    const publisher = await clientFor(here.url);
    await publisher.publishAsync('things/lamp', 'on', { qos: 1 });
    await expect.poll(async () => (await statusOf(here)).out.forwarded, { timeout: 5_000 }).toBe(1);
    expect(there.published.map(({ payload }) => String(payload))).toEqual(['on', 'on', 'on']);
    expect((await statusOf(here)).out.refused).toBe(0);
  });

  test('names its protocol by ALPN where its configuration asks for it', async () => {
    const certificates = certificatesForTest();
    const there = await startIotCoreStandIn(certificates);
    const place = { where: 'b', directory: certificates, environment: {}, nowMs: Date.now() + 5_000 };
    const bridge = { name: 'test', iotCore: { endpoint: 'localhost:443', tls: TLS }, out: [BOTH] };
    const [read] = readBridges({ bridges: [bridge] }, place);
    if (read?.kind !== 'mqtt') throw new Error('expected a bridge to MQTT');
    const moved = { ...read, url: `mqtts://localhost:${there.port}` };
    await untilConnected(await nodeForTest({ openBridges: openBridges([moved]) }));
    expect(there.protocols).toEqual(['x-amzn-mqtt-ca']);
  });
});

describe(
  'a bridge to IoT Core, at Mosquitto over mutual TLS',
  needsAll(needsOpenssl(), needs('mosquitto', program)),
  () => {
    test('carries topics of things and shadows both ways', async () => {
      const certificates = certificatesForTest();
      const { port, securePort } = await startMosquitto(program ?? '', certificates);
      const here = await bridgedTo(`localhost:${securePort}`, certificates, {
        in: [
          BOTH,
          { filter: '+/shadow/update/accepted', localPrefix: 'shadows/', remotePrefix: '$aws/things/' },
        ],
        out: [BOTH, { filter: '+/shadow/update', localPrefix: 'shadows/', remotePrefix: '$aws/things/' }],
      });
      const there = `mqtt://127.0.0.1:${port}`;
      const [seenHere, seenThere] = [await collector(here.url, '#'), await collector(there, '$aws/#')];
      const [fromHere, fromThere] = [await clientFor(here.url), await clientFor(there)];
      await fromHere.publishAsync('shadows/lamp/shadow/update', '{"state":{}}', { qos: 1 });
      await expect
        .poll(() => seenThere.packets.map(({ topic }) => topic))
        .toEqual(['$aws/things/lamp/shadow/update']);
      await fromThere.publishAsync('$aws/things/lamp/shadow/update/accepted', '{}', { qos: 1 });
      await fromThere.publishAsync('things/lamp/power', 'on', { qos: 1 });
      await expect
        .poll(() => seenHere.packets.map(({ topic }) => topic))
        .toEqual(['shadows/lamp/shadow/update', 'shadows/lamp/shadow/update/accepted', 'things/lamp/power']);
    });
  },
);
