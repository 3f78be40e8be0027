import { describe, it } from 'vitest';
import { subscriptionEndContract } from './subscription-end.ts';
import { subscriptionPutContract } from './subscription-put.ts';
import { subscriptionWalk } from './subscription-walk.ts';
import type { MakeStores } from './support.ts';

/** The contract of every `SubscriptionStore`. */
export function subscriptionStoreContract(name: string, makeStores: MakeStores): void {
  describe(`${name}: SubscriptionStore`, () => {
    subscriptionPutContract(makeStores);
    subscriptionEndContract(makeStores);

    it('agrees with naive matching, in any order of calls', async () => {
      await subscriptionWalk(await makeStores());
    });
  });
}
