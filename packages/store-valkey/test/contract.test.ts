import { storesContract, streamStoreContract } from '@apus/broker/contract';
import { MemoryBudget } from '@apus/store-memory';
import { createValkeyStores, Engine, Membership, type ValkeyStores, ValkeyStreams } from '@apus/store-valkey';
import { afterAll, beforeAll, vi } from 'vitest';
import { engineOrSkip, startEngine, type TestEngine } from '../../../test/support/engine-or-skip.ts';

// The walks wait for the engine some thousand times.
vi.setConfig({ testTimeout: 240_000 });

const program = engineOrSkip();
if (program !== undefined) {
  let process: TestEngine;
  let engine: Engine;
  let stores: ValkeyStores;
  let streams: ValkeyStreams;

  beforeAll(async () => {
    process = await startEngine(program);
    engine = await Engine.connect({ url: process.url });
    const membership = new Membership(engine, 'only');
    streams = new ValkeyStreams(engine, membership);
    stores = await createValkeyStores({
      engine,
      membership,
      clock: { now: () => Date.now() },
      memory: new MemoryBudget(),
      onFailure: (error) => {
        throw error;
      },
    });
  });

  afterAll(async () => {
    await stores.close();
    engine.close();
    await process.stop();
  });

  storesContract('valkey', () => stores);
  streamStoreContract('valkey', () => streams);
}
