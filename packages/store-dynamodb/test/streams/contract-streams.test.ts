import { streamStoreContract } from '@apus/broker/contract';
import { STREAM_ORIGINS_MAX } from '../../src/limits.ts';
import { withService } from '../support/stores.ts';

await withService((service) => {
  streamStoreContract('DynamoDB', () => service.make().streams, {
    noticesEpochs: false,
    sendsAgain: true,
    originsMax: STREAM_ORIGINS_MAX,
    dropsBeyondCount: false,
    forgetsTopics: false,
  });
});
