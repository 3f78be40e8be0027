import { openBridges, readBridges } from '@apus/bridges';
import {
  bridgedNode,
  clientFor,
  collector,
  nodeForTest,
  statusOf,
  untilConnected,
} from '@apus/bridges/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cuttable } from '../support/cuttable.ts';
import { needsOpenssl } from '../support/openssl-or-skip.ts';
import { needs } from '../support/skips.ts';
import { makeCertificates } from './certificates.ts';
import { firstOf, LOAD, publishAll, reader } from './load.ts';
import { mosquittoOrSkip, startMosquitto } from './mosquitto-or-skip.ts';

const program = mosquittoOrSkip();
const BOTH = { filter: 'chat/#', qos: 2 };
const ARRIVAL = { timeout: 60_000, interval: 100 };
const CUTS = 4;

describe('a bridge to Mosquitto', needs('mosquitto', program), () => {
  const mosquitto = (certificates?: string) => startMosquitto(program ?? '', certificates);

  test.each(['3.1.1', '5'] as const)(
    'carries messages in both directions in MQTT %s, and none goes round in a loop',
    async (version) => {
      const { port } = await mosquitto();
      const there = `mqtt://127.0.0.1:${port}`;
      const connection = { url: there, version, ...(version === '3.1.1' && { bridgeMode: true }) };
      const here = await bridgedNode({ mqtt: connection, in: [BOTH], out: [BOTH] });
      await untilConnected(here);
      const [seenHere, seenThere] = [await collector(here.url, '#'), await collector(there, '#')];
      const [fromHere, fromThere] = [await clientFor(here.url), await clientFor(there)];
      const properties = { userProperties: { a: '1' } };
      for (const qos of [0, 1, 2] as const) {
        await fromHere.publishAsync('chat/a', `here ${qos}`, { qos, properties });
        await expect.poll(() => seenThere.texts().at(-1)).toBe(`here ${qos}`);
        await fromThere.publishAsync('chat/b', `there ${qos}`, { qos, properties });
        await expect.poll(() => seenHere.texts().at(-1)).toBe(`there ${qos}`);
      }
      const all = [0, 1, 2].flatMap((qos) => [`here ${qos}`, `there ${qos}`]);
      expect([seenHere.texts(), seenThere.texts()]).toEqual([all, all]);
      expect(seenHere.packets.map(({ qos }) => qos)).toEqual([0, 0, 1, 1, 2, 2]);
      const crossed = seenThere.packets[0]?.properties?.userProperties;
      expect(crossed).toEqual(version === '5' ? { a: '1', 'apus-bridge-hops': '1' } : undefined);
    },
  );

  test('carries retained messages with their flag, once', async () => {
    const { port } = await mosquitto();
    const there = `mqtt://127.0.0.1:${port}`;
    await (await clientFor(there)).publishAsync('chat/old', 'kept', { qos: 1, retain: true });
    const here = await bridgedNode({ mqtt: { url: there }, in: [BOTH] });
    await untilConnected(here);
    await expect.poll(async () => (await statusOf(here)).in.forwarded).toBe(1);
    const { packets } = await collector(here.url, '#');
    await expect
      .poll(() => packets.map(({ topic, retain }) => [topic, retain]))
      .toEqual([['chat/old', true]]);
  });

  test.each(['out', 'in'] as const)(
    'loses and repeats nothing at QoS 2 when its connection is cut (%s)',
    async (direction) => {
      const { port } = await mosquitto();
      const direct = `mqtt://127.0.0.1:${port}`;
      const way = await cuttable(direct);
      const url = way.url.replace('ws:', 'mqtt:');
      const mapping = { filter: '#', localPrefix: 'l/', remotePrefix: 'r/', qos: 2 };
      const here = await bridgedNode({ mqtt: { url }, [direction]: [mapping] }, { queueLengthMax: 100_000 });
      await untilConnected(here);
      const [from, to] = direction === 'out' ? [here.url, direct] : [direct, here.url];
      const [near, far] = direction === 'out' ? ['l/', 'r/'] : ['r/', 'l/'];
      const load = { ...LOAD, prefix: near, qos: 2 } as const;
      const arrived = await reader(to, `${far}#`);
      await publishAll(await clientFor(from), load, (count) => {
        if (count % (load.count / CUTS) === 0) way.cut();
      });
      await expect.poll(() => arrived.length, ARRIVAL).toBe(load.count * load.topics.length);
      for (const topic of load.topics) expect(firstOf(arrived, far + topic)).toEqual(load.numbers);
    },
  );

  test('continues when Mosquitto is killed: unacknowledged messages arrive', async () => {
    const there = await mosquitto();
    const url = `mqtt://127.0.0.1:${there.port}`;
    const mapping = { filter: '#', localPrefix: 'l/', remotePrefix: 'r/', qos: 1 };
    const here = await bridgedNode({ mqtt: { url }, out: [mapping] });
    await untilConnected(here);
    await there.restart('SIGKILL');
    const publisher = await clientFor(here.url);
    const arrived = await reader(url, 'r/#');
    await publisher.publishAsync('l/a', '1', { qos: 1 });
    await expect.poll(() => firstOf(arrived, 'r/a'), ARRIVAL).toEqual([1]);
    expect((await statusOf(here)).status).toBe('connected');
  });

  test('presents its client certificate, and trusts the configured authority', needsOpenssl(), async () => {
    const { directory: certificates, remove } = makeCertificates();
    onTestFinished(remove);
    const { securePort } = await mosquitto(certificates);
    const url = `mqtts://localhost:${securePort}`;
    const tls = { ca: 'ca.pem', certificate: 'client.pem', key: 'client.key' };
    const place = { where: 'b', directory: certificates, environment: {}, nowMs: Date.now() + 5_000 };
    const start = async (given: object) => {
      const bridge = { name: 'test', mqtt: { url, tls: given }, out: [BOTH] };
      return await nodeForTest({ openBridges: openBridges(readBridges({ bridges: [bridge] }, place)) });
    };
    await untilConnected(await start(tls));
    const suspicious = await start({ certificate: tls.certificate, key: tls.key });
    await expect.poll(async () => (await statusOf(suspicious)).last_error).toMatch(/self.signed certificate/);
  });
});
