import type { Answer, Order } from './messages.ts';
import { orderTaker } from './take-orders.ts';

/** The entry point of a process of the generator: orders and answers over the channel to its parent. */
const take = orderTaker();

function answer(given: Answer): void {
  process.send?.(given, undefined, undefined, () => {
    // The ledger is written: nothing is left to do.
    if (given.type === 'ledger') process.exit(0);
  });
}

process.on('message', (order: Order) => take(order, answer));
// Ctrl+C reaches the whole process group; the parent decides when the run ends.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit(1));
