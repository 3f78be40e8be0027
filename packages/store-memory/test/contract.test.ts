import { storesContract } from '@apus/broker/contract';
import { createMemoryStores } from '@apus/store-memory';

storesContract('memory', createMemoryStores);
