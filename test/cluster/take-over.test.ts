import { Engine } from '@apus/cluster/store';
import type { RunningNode } from '@apus/node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

/** The commands of a take-over, in their order. */
const COMMANDS = [
  'apusReap',
  'apusHoldInherit',
  'apusInherit',
  'apusRoutes',
  'apusPresenceInherit',
  'apusUsageInherit',
  'apusDutyInherit',
  'apusAdopted',
];

describe('a takeover that fails half-way', needs('engine', program), () => {
  let engine: TestEngine;
  let dead: RunningNode;
  let heir: RunningNode;
  let other: RunningNode;

  beforeEach(async () => {
    engine = await startEngine(program);
    [dead, heir, other] = [
      await startMember(engine.url),
      await startMember(engine.url),
      await startMember(engine.url),
    ];
  });

  afterEach(async () => {
    vi.restoreAllMocks();
    for (const member of [dead, heir, other]) await member.stop();
    await engine.stop();
  });

  /** The command fails the next time, before or after it makes its change. */
  function failOnce(name: string, when: 'before' | 'behind'): () => number {
    const run = Engine.prototype.run;
    let failed = 0;
    vi.spyOn(Engine.prototype, 'run').mockImplementation(async function (this: Engine, script, ...call) {
      if (script.name !== name || failed > 0) return await run.call(this, script, ...call);
      failed += 1;
      if (when === 'behind') await run.call(this, script, ...call);
      throw new Error('the engine has no memory for it');
    });
    return () => failed;
  }

  const faults = COMMANDS.flatMap((name) => [[name, 'before'] as const, [name, 'behind'] as const]);

  // A process that the others did not give up continues.
  it.each(faults.filter(([name, when]) => name !== 'apusReap' || when !== 'before'))(
    'with %s, %s it has changed something, is completed by the same process',
    async (name, when) => {
      const [topic, clientId] = [unique('t'), unique('c')];
      const before = await ClusterClient.connect(dead.url, { clientId, ...KEPT });
      await before.client.subscribeAsync(topic, { qos: 1 });
      await before.client.endAsync();
      const publisher = await ClusterClient.connect(other.url);
      await publisher.client.publishAsync(topic, 'one', { qos: 1 });
      const failed = failOnce(name, when);
      await heir.cluster?.gone(dead.cluster?.me ?? '');
      await dead.failed;
      const after = await ClusterClient.connect(other.url, { clientId, ...KEPT, connectTimeout: 60_000 });
      await publisher.client.publishAsync(topic, 'two', { qos: 1 });
      expect(await after.got(2)).toEqual(['one', 'two']);
      expect(failed()).toBe(1);
    },
  );
});
