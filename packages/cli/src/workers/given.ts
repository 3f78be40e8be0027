/**
 * The first message of a supervisor to a worker. It carries the engine's password, which so is in no list of processes
 * and in no environment.
 */
export interface Given {
  /** Undefined: the engine of `--cluster`. */
  readonly engineUrl: string | undefined;
  /** Never 0. */
  readonly port: number;
  /** No other process uses the engine. */
  readonly isFirst: boolean;
}

/** A message of a supervisor to a worker: the answer to `ready`, and the name of each worker that has died. */
export type SupervisorMessage =
  | { readonly type: 'given'; readonly given: Given }
  | { readonly type: 'gone'; readonly name: string };

export interface Listening {
  readonly urls: readonly string[];
  readonly httpUrl: string;
  /** The name of this worker among the processes that share the engine. */
  readonly name: string;
}

/** A message of a worker to its supervisor: it is ready for an answer, and later it listens. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'listening'; readonly listening: Listening };
