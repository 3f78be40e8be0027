import type { Answer, Order } from './messages.ts';
import { orderTaker } from './take-orders.ts';

/** The entry point of a process of the generator: orders and answers over the channel to its parent. */
const take = orderTaker();

function answer(given: Answer): void {
  process.send?.(given, undefined, undefined, () => {
    // The books are closed: nothing is left to do.
    if (given.type === 'ledger') process.exit(0);
  });
}

process.on('message', (order: Order) => take(order, answer));
// Ctrl+C reaches the whole process group; the parent says when it is over.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit(1));
