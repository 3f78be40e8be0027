import { queueStoreContract } from '@apus/broker/contract';
import { recordQueues } from '@apus/store-dynamodb';
import { vi } from 'vitest';
import { withService } from './support/stores.ts';

// The walks make some ten thousand calls over HTTP.
vi.setConfig({ testTimeout: 600_000 });

await withService((service) => {
  queueStoreContract('DynamoDB', () => service.make());
  queueStoreContract('DynamoDB, a record for each session', () => service.make({ queues: recordQueues }));
});
