import type { Ledger } from '../measure/index.ts';
import type { Assignment, Progress } from './load-worker.ts';

/** An order of the coordinator to a process of the generator. */
export type Order =
  | { readonly type: 'connect'; readonly assignment: Assignment }
  | { readonly type: 'publish'; readonly startMicros: number }
  | { readonly type: 'report' }
  | { readonly type: 'finish' };

/** The answer of a process of the generator. */
export type Answer =
  | { readonly type: 'progress'; readonly progress: Progress; readonly problems: readonly [string, number][] }
  | { readonly type: 'ledger'; readonly ledger: Ledger }
  | { readonly type: 'failed'; readonly reason: string };

/** A process of the generator, or its replacement in a test. */
export interface WorkerHandle {
  tell(order: Order): void;
  /** Called with each answer; `failed` also if the process has ended. */
  onAnswer(listener: (answer: Answer) => void): void;
  /** Kills it at once. */
  kill(): void;
}

/** Carries out orders. The listener gets the answers. */
export type OrderTaker = (order: Order, answer: (answer: Answer) => void) => void;
