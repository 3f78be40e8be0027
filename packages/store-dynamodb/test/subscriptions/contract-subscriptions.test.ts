import { subscriptionStoreContract } from '@apus/broker/contract';
import { vi } from 'vitest';
import { withEveryService } from '../support/stores.ts';

// The walk makes some ten thousand calls over HTTP.
vi.setConfig({ testTimeout: 600_000 });

await withEveryService((service) => {
  subscriptionStoreContract('DynamoDB', () => service.make());
});
