import { retainedStoreContract } from '@apus/broker/contract';
import { vi } from 'vitest';
import { withService } from '../support/stores.ts';

// The walk makes some ten thousand calls over HTTP.
vi.setConfig({ testTimeout: 600_000 });

await withService((service) => {
  retainedStoreContract(
    'DynamoDB',
    // Without tombstones, which the suite's model does not have: see retained.test.ts for those.
    () => service.make({ retainedTombstoneSeconds: 0 }),
    // The number of retained messages is sampled: an exact one would be a hot item.
    { countsAreExact: false },
  );
});
