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
async function holdable(engineUrl: string): Promise<{ readonly url: string; hold(): void }> {
  const { port, hostname } = new URL(engineUrl);
  let isHolding = false;
  const server = createServer((near) => {
    const far = connectSocket(Number(port), hostname);
    let isPublisher = false;
    near.on('data', (bytes) => {
      // The connection of PUBLISH wants no answers.
      isPublisher ||= bytes.toString('latin1').toUpperCase().includes('REPLY');
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
  };
}

/** A packet of MQTT 5. */
function bytesOf(packet: Record<string, unknown>): Buffer {
  return generate(packet as never, { protocolVersion: 5 } as never);
}

describe(
  'a process that dies before the engine has the receipt of a QoS 2 message',
  needs('engine', program),
  () => {
    const built = new Built();

    it('has handed the message to no other process: repeated, it comes once [MQTT-4.3.3-10]', async () => {
      const engine = await startEngine(program);
      onTestFinished(() => engine.stop());
      const way = await holdable(engine.url);
      const [one, two] = [
        await built.serve(['--cluster', way.url]),
        await built.serve(['--cluster', engine.url]),
      ];
      const topic = unique('t');
      const subscriber = await ClusterClient.connect(two.url);
      await subscriber.client.subscribeAsync(topic, { qos: 2 });
      const [clientId, other] = [unique('p'), unique('o')];
      const before = await RawClient.connect(one.url, { clientId, ...KEPT });
      const behind = await RawClient.connect(one.url, { clientId: other });
      const message = { cmd: 'publish', topic, payload: 'm', qos: 2, messageId: 7, retain: false };
      way.hold();
      const first = { cmd: 'publish', topic, payload: 'first', qos: 0, retain: false, dup: false };
      before.client.sendBytes(Buffer.concat([bytesOf(first), bytesOf({ ...message, dup: false })]));
      // The process has read both.
      await subscriber.got(1);
      // Its messages come in order: before this one, the other would have come.
      behind.client.send({ ...first, payload: 'behind' });
      await expect.poll(() => subscriber.texts).toContain('behind');
      await one.stop('SIGKILL');
      // Until the other process has its session, a connection ends without CONNACK.
      const again = await ClusterClient.connect(two.url, { clientId, ...KEPT, reconnectPeriod: 200 });
      await again.client.endAsync();
      const after = await RawClient.connect(two.url, { clientId, ...KEPT });
      after.client.send({ ...message, dup: true });
      await after.client.expect('pubrec');
      after.client.send({ cmd: 'pubrel', messageId: 7 });
      await after.client.expect('pubcomp');
      const last = await ClusterClient.connect(two.url);
      await last.client.publishAsync(topic, 'last', { qos: 2 });
      await expect.poll(() => subscriber.texts).toContain('last');
      expect(subscriber.texts).toEqual(['first', 'behind', 'm', 'last']);
    });
  },
);
