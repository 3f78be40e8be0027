import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { Built } from '@apus/cli/testing';
import { generate } from 'mqtt-packet';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { RawClient } from '../support/raw-client.ts';
import { needs } from '../support/skips.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

/** A way to the engine that can hold what a process stores, while its messages for other processes pass. */
async function holdable(
  engineUrl: string,
): Promise<{ readonly url: string; hold(): void; holdFrom(text: string): void }> {
  const { port, hostname } = new URL(engineUrl);
  let isHolding = false;
  let from: string | undefined;
  const server = createServer((near) => {
    const far = connectSocket(Number(port), hostname);
    let isPublisher = false;
    near.on('data', (bytes) => {
      // The connection of PUBLISH wants no answers.
      isPublisher ||= bytes.toString('latin1').toUpperCase().includes('REPLY');
      isHolding ||= !isPublisher && from !== undefined && bytes.includes(from);
      if (!isHolding || isPublisher) far.write(bytes);
    });
    far.pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return {
    url: engineUrl.replace(port, String((server.address() as AddressInfo).port)),
    hold: () => {
      isHolding = true;
    },
    holdFrom: (text) => {
      from = text;
    },
  };
}

/** A packet of MQTT 5. */
function bytesOf(packet: Record<string, unknown>): Buffer {
  return generate(packet as never, { protocolVersion: 5 } as never);
}

describe('a process that dies while the engine stores nothing from it', needs('engine', program), () => {
  const built = new Built();

  /** Two processes over one engine, and the way of the first to it. */
  const processes = async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const way = await holdable(engine.url);
    const [one, two] = [
      await built.serve(['--cluster', way.url]),
      await built.serve(['--cluster', engine.url]),
    ];
    return { way, one, two };
  };

  /** The packets of a client, read by a process from which the engine stores nothing more; then the process dies. */
  const dying = async (
    connect: Record<string, unknown>,
    packetsOf: (topic: string) => readonly Record<string, unknown>[],
  ) => {
    const { way, one, two } = await processes();
    const subscriber = await ClusterClient.connect(two.url);
    await subscriber.client.subscribeAsync('t/#', { qos: 2 });
    const { client } = await RawClient.connect(one.url, connect);
    // The process that takes over publishes its will.
    const will = { topic: 't/plain', payload: 'taken over', qos: 1, retain: false, properties: {} };
    await RawClient.connect(one.url, { clientId: unique('s'), ...KEPT, will });
    const behind = await RawClient.connect(one.url, { clientId: unique('o') });
    const first = { cmd: 'publish', topic: 't/plain', payload: 'first', qos: 0, retain: false, dup: false };
    way.hold();
    client.sendBytes(Buffer.concat([first, ...packetsOf('t/once')].map(bytesOf)));
    await subscriber.got(1);
    // The process has read them all. What it sends to another comes in order: before this one, the rest would have come.
    behind.client.send({ ...first, payload: 'behind' });
    await expect.poll(() => subscriber.texts).toContain('behind');
    await one.stop('SIGKILL');
    return { two, subscriber };
  };

  it('has handed no QoS 2 message without its receipt to another: repeated, it comes once [MQTT-4.3.3-10]', async () => {
    const clientId = unique('p');
    const message = { cmd: 'publish', payload: 'm', qos: 2, messageId: 7, retain: false, dup: false };
    const { two, subscriber } = await dying({ clientId, ...KEPT }, (topic) => [{ ...message, topic }]);
    // Until the other process has its session, a connection ends without CONNACK.
    const again = await ClusterClient.connect(two.url, { clientId, ...KEPT, reconnectPeriod: 200 });
    await again.client.endAsync();
    const after = await RawClient.connect(two.url, { clientId, ...KEPT });
    after.client.send({ ...message, topic: 't/once', dup: true });
    await after.client.expect('pubrec');
    after.client.send({ cmd: 'pubrel', messageId: 7 });
    await after.client.expect('pubcomp');
    const last = await ClusterClient.connect(two.url);
    await last.client.publishAsync('t/once', 'last', { qos: 2 });
    await expect.poll(() => subscriber.texts).toContain('last');
    const texts = subscriber.texts.filter((text) => text !== 'taken over');
    expect(texts).toEqual(['first', 'behind', 'm', 'last']);
  });

  it('has handed a QoS 2 message to another whose copies here are not stored: repeated, it comes to each once [MQTT-4.3.3-10]', async () => {
    const { way, one, two } = await processes();
    const [topic, text, clientId] = [unique('t'), unique('payload'), unique('p')];
    const members = [one, two];
    let turn = 0;
    const moving = await ClusterClient.connect('ws://127.0.0.1', {
      ...{ clientId: unique('s'), ...KEPT, reconnectPeriod: 200 },
      transformWsUrl: () => members[Math.min(turn++, 1)]?.url ?? '',
    });
    const staying = await ClusterClient.connect(two.url);
    for (const { client } of [moving, staying]) await client.subscribeAsync(topic, { qos: 2 });
    const before = await RawClient.connect(one.url, { clientId, ...KEPT });
    const message = { cmd: 'publish', topic, payload: text, qos: 2, messageId: 7, retain: false };
    // The receipt has no payload: it is stored. The copies have it.
    way.holdFrom(text);
    before.client.send({ ...message, dup: false });
    await staying.got(1);
    await one.stop('SIGKILL');
    const again = await ClusterClient.connect(two.url, { clientId, ...KEPT, reconnectPeriod: 200 });
    await again.client.endAsync();
    const after = await RawClient.connect(two.url, { clientId, ...KEPT });
    after.client.send({ ...message, dup: true });
    await after.client.expect('pubrec');
    after.client.send({ cmd: 'pubrel', messageId: 7 });
    await after.client.expect('pubcomp');
    const last = await ClusterClient.connect(two.url);
    await last.client.publishAsync(topic, 'last', { qos: 2 });
    for (const reader of [moving, staying]) {
      await expect.poll(() => reader.texts).toContain('last');
      expect(reader.texts).toEqual([text, 'last']);
    }
  });

  it('has handed no will without its record to another: it comes once', async () => {
    const will = { topic: 't/once', payload: 'gone', qos: 2, retain: false, properties: {} };
    const withWill = { cmd: 'disconnect', reasonCode: 0x04 };
    const { two, subscriber } = await dying({ clientId: unique('w'), ...KEPT, will }, () => [withWill]);
    await expect
      .poll(() => subscriber.texts, { timeout: 60_000 })
      .toEqual(expect.arrayContaining(['gone', 'taken over']));
    const last = await ClusterClient.connect(two.url);
    await last.client.publishAsync('t/once', 'last', { qos: 2 });
    await expect.poll(() => subscriber.texts).toContain('last');
    expect(subscriber.texts.sort()).toEqual(['behind', 'first', 'gone', 'last', 'taken over']);
  });
});
