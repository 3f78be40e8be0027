import { fork } from 'node:child_process';
import type { Answer, Order, WorkerHandle } from './messages.ts';
import { orderTaker } from './take-orders.ts';

/** A separate process. `path`: the built `worker-process`. */
export function forkedWorker(path: string): WorkerHandle {
  const child = fork(path, { serialization: 'advanced' });
  let isDone = false;
  return {
    tell: (order: Order) => void (child.connected && child.send(order)),
    onAnswer(listener) {
      child.on('message', (answer: Answer) => {
        isDone ||= answer.type === 'ledger';
        listener(answer);
      });
      child.on('exit', (code, signal) => {
        const how = signal === null ? `with code ${code}` : `by ${signal}`;
        if (!isDone) listener({ type: 'failed', reason: `a process of the generator has ended ${how}` });
      });
    },
    kill: () => void child.kill('SIGKILL'),
  };
}

/** A worker in this process: for tests, and for very small loads. */
export function localWorker(): WorkerHandle {
  const take = orderTaker();
  let listener: (answer: Answer) => void = () => {};
  return {
    tell: (order) => take(order, (answer) => listener(answer)),
    onAnswer(given) {
      listener = given;
    },
    kill() {},
  };
}
