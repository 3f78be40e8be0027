import { subscriptionStoreContract } from '@apus/broker/contract';
import { vi } from 'vitest';
import { withService } from '../support/stores.ts';

// The walk makes some ten thousand calls over HTTP.
vi.setConfig({ testTimeout: 600_000 });

await withService((service) => {
  subscriptionStoreContract('DynamoDB', () => service.make());
});
