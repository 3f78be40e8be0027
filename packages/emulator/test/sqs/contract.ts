import { type Backend, Bench } from './bench.ts';
import { batchesAndBadInput } from './contract-batches.ts';
import { fifoQueues } from './contract-fifo.ts';
import { standardQueues } from './contract-standard.ts';

/** The behaviour of queues that AWS documents, through its SDK. */
export function defineSqsContract(backend: Backend): void {
  const bench = new Bench(backend);
  standardQueues(bench);
  fifoQueues(bench);
  batchesAndBadInput(bench);
}
