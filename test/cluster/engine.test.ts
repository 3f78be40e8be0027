import { Redis } from 'iovalkey';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe('the engine', needs('engine', program), () => {
  const cluster = async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const members = [await startMember(engine.url), await startMember(engine.url)] as const;
    onTestFinished(async () => {
      await Promise.all(members.map((member) => member.stop()));
    });
    return { engine, members };
  };

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'is restarted by %s at once: the processes continue, and nothing is lost',
    async (signal) => {
      const {
        engine,
        members: [one, two],
      } = await cluster();
      const topic = unique('t');
      const subscriber = await ClusterClient.connect(one.url, { clientId: unique('c'), ...KEPT });
      await subscriber.client.subscribeAsync(topic, { qos: 1 });
      const publisher = await ClusterClient.connect(two.url);
      await publisher.client.publishAsync(topic, 'before', { qos: 1 });
      await engine.kill(signal);
      const published = publisher.client.publishAsync(topic, 'meanwhile', { qos: 1 });
      await engine.start();
      await published;
      await publisher.client.publishAsync(topic, 'after', { qos: 1 });
      await subscriber.got(3);
      expect([...new Set(subscriber.texts)]).toEqual(['before', 'meanwhile', 'after']);
    },
  );

  it('becomes the replica of another one: every process ends itself and tells its clients', async () => {
    const { engine, members } = await cluster();
    const [one] = members;
    const client = await ClusterClient.connect(one.url);
    const told = new Promise<number | undefined>((resolve) =>
      client.client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    );
    const { password } = new URL(engine.url);
    const operator = new Redis({ port: engine.port, password });
    // After a failover the former primary refuses writes (READONLY).
    await operator.replicaof('127.0.0.1', await freePort());
    operator.disconnect();
    const [error] = await Promise.all(members.map((member) => member.failed));
    expect(error?.message).toContain('engine of the cluster does not answer');
    expect(await told).toBe(0x8b);
  });

  it('does not come back: every process ends itself and tells its clients', async () => {
    const { engine, members } = await cluster();
    const [one] = members;
    const client = await ClusterClient.connect(one.url);
    const told = new Promise<number | undefined>((resolve) =>
      client.client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    );
    await engine.kill('SIGKILL');
    const [error] = await Promise.all(members.map((member) => member.failed));
    expect(error?.message).toContain('engine of the cluster does not answer');
    expect(await told).toBe(0x8b);
  });
});
