/** What a supervisor tells a worker, in a message: the engine's password is in no list of processes and no environment. */
export interface Given {
  /** Undefined: the engine of `--cluster`. */
  readonly engineUrl: string | undefined;
  /** Never 0. */
  readonly port: number;
}

export interface Listening {
  readonly url: string;
  readonly httpUrl: string;
}

/** What a worker tells its supervisor: that it can be told, and then that it listens. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'listening'; readonly listening: Listening };
