import { linkStoreContract, receivedStoreContract, sessionStoreContract } from '@apus/broker/contract';
import { withService } from '../support/stores.ts';

await withService((service) => {
  // The number of sessions is sampled: an exact one would be a hot item.
  sessionStoreContract('DynamoDB', () => service.make(), { countsAreExact: false });
  receivedStoreContract('DynamoDB', () => service.make(), { countsAreExact: false });
  linkStoreContract('DynamoDB', () => service.make().links);
});
