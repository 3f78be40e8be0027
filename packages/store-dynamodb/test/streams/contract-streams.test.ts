import { streamStoreContract } from '@apus/broker/contract';
import { withEveryService } from '../support/stores.ts';

await withEveryService((service) => {
  streamStoreContract('DynamoDB', () => service.make().streams, {
    dropsBeyondCount: false,
  });
});
