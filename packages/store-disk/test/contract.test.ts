import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storesContract } from '@apus/broker/contract';
import { createDiskStores } from '@apus/store-disk';
import { afterAll, beforeAll, vi } from 'vitest';

// The walks wait for the disk some thousand times.
vi.setConfig({ testTimeout: 240_000 });

const directory = mkdtempSync(join(tmpdir(), 'apus-contract-'));
const opened = createDiskStores({ directory, clock: { now: () => Date.now() } });

beforeAll(async () => {
  await opened;
});

afterAll(async () => {
  await (await opened).close();
  rmSync(directory, { recursive: true });
});

storesContract('disk', () => opened);
