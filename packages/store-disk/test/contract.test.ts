import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { presenceStoreContract, storesContract, streamStoreContract } from '@apus/broker/contract';
import { createDiskStores } from '@apus/store-disk';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import { NOW_MS } from '../../broker/contract/samples.ts';
import { temporaryDirectory } from './support/directory.ts';

// The walks wait for the disk some thousand times.
vi.setConfig({ testTimeout: 240_000 });

const directory = mkdtempSync(join(tmpdir(), 'apus-contract-'));
// The contract says each time that passes.
const opened = createDiskStores({ directory, clock: { now: () => NOW_MS } });

beforeAll(async () => {
  await opened;
});

afterAll(async () => {
  await (await opened).close();
  rmSync(directory, { recursive: true });
});

storesContract('disk', () => opened);

// Topics leave as others come: each test has a store of its own, and its time.
streamStoreContract('disk', async () => {
  const stores = await createDiskStores({ directory: temporaryDirectory(), clock: { now: () => NOW_MS } });
  onTestFinished(() => stores.close());
  return stores.streamStore;
});

presenceStoreContract('disk', async () => {
  const stores = await opened;
  return { ...stores, presence: stores.presenceStore };
});
