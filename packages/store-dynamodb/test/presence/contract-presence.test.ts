import { presenceStoreContract } from '@apus/broker/contract';
import { withEveryService } from '../support/stores.ts';

await withEveryService((service) => {
  presenceStoreContract('DynamoDB', () => service.make());
});
