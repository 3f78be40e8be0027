import { streamStoreContract } from '@apus/broker/contract';
import { withService } from '../support/stores.ts';

await withService((service) => {
  streamStoreContract('DynamoDB', () => service.make().streams, {
    noticesEpochs: false,
    knowsOrigins: false,
    dropsBeyondCount: false,
    forgetsTopics: false,
  });
});
