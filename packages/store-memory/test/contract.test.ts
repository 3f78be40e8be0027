import {
  linkStoreContract,
  presenceStoreContract,
  storesContract,
  streamStoreContract,
} from '@apus/broker/contract';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';

storesContract('memory', createMemoryStores);

streamStoreContract('memory', () => createMemoryStores().streamStore);

presenceStoreContract('memory', () => {
  const stores = createMemoryStores();
  return { ...stores, presence: stores.presenceStore };
});

linkStoreContract('memory', () => new MemoryLinks({ now: () => 0 }));
