import type { Ledger } from '../measure/index.ts';
import type { Assignment, Progress } from './load-worker.ts';

/** What the coordinator tells a process of the generator. */
export type Order =
  | { readonly type: 'connect'; readonly assignment: Assignment }
  | { readonly type: 'publish'; readonly startMicros: number }
  | { readonly type: 'report' }
  | { readonly type: 'finish' };

/** What a process of the generator answers. */
export type Answer =
  | { readonly type: 'progress'; readonly progress: Progress; readonly problems: readonly [string, number][] }
  | { readonly type: 'ledger'; readonly ledger: Ledger }
  | { readonly type: 'failed'; readonly reason: string };

/** A process of the generator, or what stands for one in a test. */
export interface WorkerHandle {
  tell(order: Order): void;
  /** Called with each answer; `failed` also when the process is gone. */
  onAnswer(listener: (answer: Answer) => void): void;
  /** Ends it, whatever it does. */
  kill(): void;
}

/** Carries out orders. The listener gets the answers. */
export type OrderTaker = (order: Order, answer: (answer: Answer) => void) => void;
