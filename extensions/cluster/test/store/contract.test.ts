import { presenceStoreContract, storesContract, streamStoreContract } from '@apus/broker/contract';
import { NOW_MS } from '@apus/broker/samples';
import { MemoryBudget } from '@apus/store-memory';
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../../../../test/support/engine-or-skip.ts';
import { needs } from '../../../../test/support/skips.ts';
import {
  createValkeyStores,
  Engine,
  Membership,
  ValkeyPresence,
  type ValkeyStores,
  ValkeyStreams,
} from '../../src/store/index.ts';

// The walks wait for the engine some thousand times.
vi.setConfig({ testTimeout: 240_000 });

const program = engineOrSkip();
describe('over an engine', needs('engine', program), () => {
  let process: TestEngine;
  let engine: Engine;
  let stores: ValkeyStores;
  let streams: ValkeyStreams;
  let presence: ValkeyPresence;

  beforeAll(async () => {
    process = await startEngine(program);
    engine = await Engine.connect({ url: process.url });
    const membership = new Membership(engine, 'only');
    streams = new ValkeyStreams(engine, membership);
    stores = await createValkeyStores({
      engine,
      membership,
      clock: { now: () => NOW_MS },
      memory: new MemoryBudget(),
      onFailure: (error) => {
        throw error;
      },
    });
    presence = new ValkeyPresence(engine, membership, stores.sessions);
  });

  afterAll(async () => {
    await stores.close();
    engine.close();
    await process.stop();
  });

  storesContract('valkey', () => stores);
  streamStoreContract('valkey', () => streams);
  presenceStoreContract('valkey', () => ({ ...stores, presence: tellingPresence(presence) }));
});

/** This process sends changes to the watchers of each room. */
function tellingPresence(presence: ValkeyPresence): ValkeyPresence {
  return new Proxy(presence, {
    get: (target, name) => {
      if (name === 'takeUntold')
        return async (...call: Parameters<ValkeyPresence['takeUntold']>) => {
          const [tenant, room] = call;
          await target.teller(tenant, room);
          const untold = await target.takeUntold(...call);
          await untold.markTold?.();
          return untold;
        };
      const method = Reflect.get(target, name) as unknown;
      return typeof method === 'function' ? method.bind(target) : method;
    },
  });
}
