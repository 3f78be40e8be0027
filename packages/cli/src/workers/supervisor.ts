import cluster, { type Worker } from 'node:cluster';
import type { Log } from '@apus/broker';
import type { Given, Listening, SupervisorMessage, WorkerMessage } from './given.ts';
import { RESTARTS_PER_WORKER, RESTARTS_WITHIN_MS, RETRY_MS } from './limits.ts';

/** The reason why the workers cannot go on. */
export interface Failure {
  /** Undefined: the worker has written it to standard error. */
  readonly reason: string | undefined;
  readonly exitCode: number;
}

export interface SupervisorOptions {
  readonly count: number;
  readonly given: Omit<Given, 'isFirst'>;
  /** Only these workers use the engine. */
  readonly ownsEngine: boolean;
  /** The time for a worker to end before it is killed. */
  readonly stopMsMax: number;
  readonly log: Log;
}

/** Starts workers, and restarts them. It does not know what they do. */
export class Supervisor {
  /** Resolves when workers end again and again, or the first one never listens. */
  readonly failed: Promise<Failure>;
  readonly #options: SupervisorOptions;
  /** The workers with their names. */
  readonly #listening = new Map<Worker, string>();
  readonly #workers = new Set<Worker>();
  #fail: (failure: Failure) => void = () => {};
  #whenListening: (listening: Listening) => void = () => {};
  /** Names of workers that died while no other worker was there to be told. */
  #untold: string[] = [];
  #endedAtMs: number[] = [];
  #hasListened = false;
  #isStopping = false;
  #whenEmpty: () => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.failed = new Promise((resolve) => {
      this.#fail = resolve;
    });
  }

  /**
   * Resolves when all workers listen. The first one listens before another one starts: if the command line is wrong,
   * only one worker reports it.
   */
  async start(): Promise<Listening> {
    const first = await new Promise<Listening>((resolve) => {
      this.#whenListening = resolve;
      this.#fork();
    });
    await new Promise<void>((resolve) => {
      this.#whenListening = () => {
        if (this.#listening.size === this.#options.count) resolve();
      };
      for (let index = 1; index < this.#options.count; index += 1) this.#fork();
    });
    return first;
  }

  /** Passes a signal to the workers that are ready for it. */
  signal(signal: NodeJS.Signals): void {
    for (const worker of this.#listening.keys()) worker.process.kill(signal);
  }

  /** Ends all workers at once: one after another, each would get the clients of those before it. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#workers.size === 0) return;
    const empty = new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
    for (const worker of this.#workers) worker.process.kill('SIGTERM');
    const impatient = setTimeout(() => {
      for (const worker of this.#workers) worker.process.kill('SIGKILL');
    }, this.#options.stopMsMax);
    await empty;
    clearTimeout(impatient);
  }

  #listens(worker: Worker, listening: Listening): void {
    this.#hasListened = true;
    this.#listening.set(worker, listening.name);
    for (const name of this.#untold.splice(0)) this.#tellGone(name);
    this.#whenListening(listening);
  }

  #fork(): void {
    if (this.#isStopping) return;
    const worker = cluster.fork();
    this.#workers.add(worker);
    worker.on('error', () => {});
    worker.on('message', (message: WorkerMessage) => {
      if (message.type === 'ready') this.#send(worker, { type: 'given', given: this.#given() });
      else this.#listens(worker, message.listening);
    });
    worker.once('exit', (code: number | null, signal: string | null) => this.#ended(worker, code, signal));
  }

  #ended(worker: Worker, code: number | null, signal: string | null): void {
    const name = this.#listening.get(worker);
    this.#listening.delete(worker);
    this.#workers.delete(worker);
    if (this.#isStopping) {
      if (this.#workers.size === 0) this.#whenEmpty();
      return;
    }
    const how = signal ? `by ${signal}` : `with status ${code}`;
    if (!this.#hasListened) {
      const reason = code ? undefined : `The first worker has ended ${how} before it listened.`;
      this.#fail({ reason, exitCode: code || 1 });
      return;
    }
    if (this.#mayRestart()) {
      this.#options.log.warn('worker-ended', { pid: worker.process.pid, how });
      if (name !== undefined) this.#tellGone(name);
      setTimeout(() => this.#fork(), name !== undefined ? 0 : RETRY_MS);
      return;
    }
    const reason = `Workers have ended ${this.#endedAtMs.length} times within ${RESTARTS_WITHIN_MS / 1000} seconds, the last one ${how}.`;
    this.#fail({ reason, exitCode: 1 });
  }

  #given(): Given {
    return { ...this.#options.given, isFirst: this.#options.ownsEngine && !this.#hasListened };
  }

  /** The others need not wait for the end of its lease: a dead process cannot write any more. */
  #tellGone(name: string): void {
    if (this.#listening.size === 0) this.#untold.push(name);
    for (const worker of this.#listening.keys()) this.#send(worker, { type: 'gone', name });
  }

  #send(worker: Worker, message: SupervisorMessage): void {
    // The worker may just have died: `#ended` handles that.
    worker.send(message, () => {});
  }

  #mayRestart(): boolean {
    const nowMs = performance.now();
    this.#endedAtMs = this.#endedAtMs.filter((atMs) => nowMs - atMs < RESTARTS_WITHIN_MS);
    this.#endedAtMs.push(nowMs);
    return this.#endedAtMs.length <= RESTARTS_PER_WORKER * this.#options.count;
  }
}
