import { describe } from 'vitest';
import { type Backend, Bench } from './bench.ts';
import { batchesAndBadInput } from './contract-batches.ts';
import { fifoQueues } from './contract-fifo.ts';
import { standardQueues } from './contract-standard.ts';

/** The behaviour of queues that AWS documents, through its SDK. */
export function defineSqsContract(backend: Backend): void {
  const bench = new Bench(backend);
  // Where time is real, all of the tests wait side by side: their queues have nothing in common.
  describe('SQS', { concurrent: backend.inRealTime === true }, () => {
    standardQueues(bench);
    fifoQueues(bench);
    batchesAndBadInput(bench);
  });
}
