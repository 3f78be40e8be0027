import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { IDENTITY_QUEUES_SHARE, MemoryBudget } from '@apus/store-memory';

/** The process also needs memory for work in progress, socket buffers and garbage. */
const SHARE = 1 / 2;

/** The share for the queues of one tenant: the other tenants, and other things, need room too. */
const TENANT_QUEUES_SHARE = 1 / 2;

/**
 * @param bytesMax 0: a share of the memory that this process can have
 * @param tenantQueueBytesMax 0: a share of that
 * @param identityQueueBytesMax at most a share of that; 0: any number
 * @param memoryShares of the machine's memory: this process has one
 */
export function createMemoryBudget(
  bytesMax: number,
  tenantQueueBytesMax: number,
  identityQueueBytesMax: number,
  memoryShares = 1,
): MemoryBudget {
  const all = bytesMax > 0 ? bytesMax : Math.floor(availableBytes(memoryShares) * SHARE);
  const queues = tenantQueueBytesMax > 0 ? tenantQueueBytesMax : Math.floor(all * TENANT_QUEUES_SHARE);
  const ofIdentity =
    identityQueueBytesMax > 0
      ? Math.min(identityQueueBytesMax, Math.floor(queues * IDENTITY_QUEUES_SHARE))
      : Number.POSITIVE_INFINITY;
  return new MemoryBudget(all, queues, ofIdentity);
}

function availableBytes(memoryShares: number): number {
  // The memory limit of the container. Without a container, Node.js returns 0 or a huge number.
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(getHeapStatistics().heap_size_limit, Math.floor(memory / memoryShares));
}
