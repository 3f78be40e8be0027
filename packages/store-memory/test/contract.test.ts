import { linkStoreContract, storesContract } from '@apus/broker/contract';
import { createMemoryStores, MemoryLinks } from '@apus/store-memory';

storesContract('memory', createMemoryStores);

linkStoreContract('memory', () => new MemoryLinks({ now: () => 0 }));
