import { linkStoreContract, storesContract, streamStoreContract } from '@apus/broker/contract';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';

storesContract('memory', createMemoryStores);

streamStoreContract('memory', () => createMemoryStores().streamStore);

linkStoreContract('memory', () => new MemoryLinks({ now: () => 0 }));
