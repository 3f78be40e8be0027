import { queueStoreContract } from './queues.ts';
import { receivedStoreContract } from './received.ts';
import { retainedStoreContract } from './retained.ts';
import { sessionStoreContract } from './sessions.ts';
import { subscriptionStoreContract } from './subscriptions.ts';
import type { ContractOptions, MakeStores } from './support.ts';

/**
 * Everything that a store package promises. An implementation joins with one line:
 *
 *     storesContract('memory', createMemoryStores);
 *
 * `makeStores` is called for each test; it may answer the same stores again, since every test has its own tenant.
 */
export function storesContract(name: string, makeStores: MakeStores, options: ContractOptions = {}): void {
  sessionStoreContract(name, makeStores, options);
  subscriptionStoreContract(name, makeStores);
  retainedStoreContract(name, makeStores, options);
  queueStoreContract(name, makeStores);
  receivedStoreContract(name, makeStores, options);
}
