import { LoadWorker } from './load-worker.ts';
import type { Order, OrderTaker } from './messages.ts';

/** A process of the generator, wherever it runs. */
export function orderTaker(): OrderTaker {
  let worker: LoadWorker | undefined;
  return (order: Order, answer) => {
    try {
      switch (order.type) {
        case 'connect':
          worker = new LoadWorker(order.assignment);
          worker.connect();
          return;
        case 'publish':
          worker?.publish(order.startMicros);
          return;
        case 'report':
          if (worker !== undefined)
            answer({ type: 'progress', progress: worker.progress(), problems: [...worker.problems] });
          return;
        case 'finish':
          worker
            ?.finish()
            .then((ledger) => answer({ type: 'ledger', ledger }))
            .catch((error: unknown) => answer({ type: 'failed', reason: String(error) }));
          return;
      }
    } catch (error) {
      answer({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
    }
  };
}
