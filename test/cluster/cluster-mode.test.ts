import { describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { type ClusterModeEngine, startClusterModeEngine } from '../support/cluster-mode-engine.ts';
import { engineOrSkip } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

describe(
  'an engine in cluster mode, whose user has only the permissions that Apus needs',
  needs('engine', program),
  () => {
    const start = async (): Promise<ClusterModeEngine> => {
      const engine = await startClusterModeEngine(program);
      onTestFinished(() => engine.stop());
      return engine;
    };
    const join = async (url: string) => {
      const member = await startMember(url);
      onTestFinished(() => member.stop());
      return member;
    };

    it('serves processes that find it by the address of a replica', async () => {
      const engine = await start();
      const [one, two] = [await join(engine.replicaUrl), await join(engine.primaryUrl)];
      const [topic, clientId] = [unique('t'), unique('c')];
      const subscriber = await ClusterClient.connect(one.url, { clientId, ...KEPT });
      await subscriber.client.subscribeAsync(`${topic}/#`, { qos: 2 });
      const publisher = await ClusterClient.connect(two.url);
      await publisher.client.publishAsync(`${topic}/a`, 'one', { qos: 2 });
      await publisher.client.publishAsync(`${topic}/b`, 'kept', { qos: 1, retain: true });
      expect(await subscriber.got(2)).toEqual(['one', 'kept']);
      await subscriber.client.endAsync();
      await publisher.client.publishAsync(`${topic}/a`, 'away', { qos: 1 });
      const again = await ClusterClient.connect(two.url, { clientId, ...KEPT });
      expect(await again.got(1)).toEqual(['away']);
      const late = await ClusterClient.connect(one.url);
      await late.client.subscribeAsync(`${topic}/b`, { qos: 1 });
      expect(await late.got(1)).toEqual(['kept']);
    });

    it('fails over: every process ends itself and tells its clients, and new processes have the sessions', async () => {
      const engine = await start();
      const before = await join(engine.primaryUrl);
      const [topic, clientId] = [unique('t'), unique('c')];
      const subscriber = await ClusterClient.connect(before.url, { clientId, ...KEPT });
      await subscriber.client.subscribeAsync(topic, { qos: 1 });
      await subscriber.client.endAsync();
      const publisher = await ClusterClient.connect(before.url);
      const told = new Promise<number | undefined>((resolve) =>
        publisher.client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)),
      );
      await publisher.client.publishAsync(topic, 'before', { qos: 1 });
      await engine.failOver();
      expect((await before.failed)?.message).toBeDefined();
      expect(await told).toBe(0x8b);
      await before.stop();
      const after = await join(engine.primaryUrl);
      const again = await ClusterClient.connect(after.url, { clientId, ...KEPT, connectTimeout: 60_000 });
      expect(await again.got(1)).toEqual(['before']);
    });
  },
);
