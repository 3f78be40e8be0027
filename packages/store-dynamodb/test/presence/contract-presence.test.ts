import { presenceStoreContract } from '@apus/broker/contract';
import { withService } from '../support/stores.ts';

await withService((service) => {
  presenceStoreContract('DynamoDB', () => service.make());
});
