import { clockOf, type Ledger } from '../measure/index.ts';
import { messagesPerStream, type Plan, planOf } from '../scenario/plan.ts';
import type { Assignment, Progress } from './load-worker.ts';
import type { Answer, WorkerHandle } from './messages.ts';

/** How often the coordinator asks the processes for their progress. */
const LOOK_MS = 100;

/** Time for the last clients to connect and subscribe, beyond what their rate takes. */
const CONNECT_GRACE_SECONDS = 30;

/** The run stops waiting for missing messages when none has come for this long. */
const SILENCE_SECONDS = 5;

/** A delay until publishing begins: the processes need a moment to receive the order. */
const START_DELAY_MS = 200;

/** If this many clients have failed and none has connected, the others do not try. */
const HOPELESS_FAILURES = 20;

/** Time to close connections and write the ledgers. */
const FINISH_SECONDS = 15;

export interface FastRunOptions {
  /** For each process; the coordinator fills `worker` in. */
  readonly assignment: Omit<Assignment, 'worker'>;
  readonly startWorker: () => WorkerHandle;
  /** Told about every tenth of a second. */
  readonly onProgress: (phase: RunPhase, total: Progress) => void;
  /** When it is aborted, the run ends with its counts so far. */
  readonly stop: AbortSignal;
  /** Awaited when all clients are connected, and when the last message has come: to read counters in between. */
  readonly atMoment?: ((moment: RunMoment) => Promise<void>) | undefined;
  /** A moment at which publishing begins, for runs on several machines; milliseconds of the epoch. */
  readonly startAtMs?: number | undefined;
}

export type RunMoment = 'connected' | 'drained';
export type RunPhase = 'connecting' | 'publishing' | 'draining' | 'finishing';

export interface FastRun {
  readonly ledgers: readonly Ledger[];
  readonly wasStopped: boolean;
  /** The coordinator's own problems: phases that ran out of time, processes that failed. */
  readonly problems: readonly string[];
  readonly seconds: { readonly connecting: number; readonly publishing: number; readonly draining: number };
}

/** No client could connect: the message gives the reason. */
export class NoClientConnected extends Error {
  override readonly name = 'NoClientConnected';
}

/** Runs a scenario in several processes: connect, publish together, wait for the last message, collect the ledgers. */
export async function runFast(options: FastRunOptions): Promise<FastRun> {
  const run = new Coordination(options);
  return await run.run();
}

interface Worker {
  readonly handle: WorkerHandle;
  progress: Progress | undefined;
  problems: readonly [string, number][];
  ledger: Ledger | undefined;
}

class Coordination {
  readonly #options: FastRunOptions;
  readonly #plan: Plan;
  readonly #workers: Worker[];
  readonly #problems: string[] = [];
  #hasFailed = false;

  constructor(options: FastRunOptions) {
    const { scenario, size, workers } = options.assignment;
    this.#options = options;
    this.#plan = planOf(scenario, size);
    this.#workers = Array.from({ length: workers }, () => ({
      handle: options.startWorker(),
      progress: undefined,
      problems: [],
      ledger: undefined,
    }));
  }

  async run(): Promise<FastRun> {
    try {
      const connecting = await this.#timed(() => this.#connect());
      await this.#options.atMoment?.('connected');
      const publishing = await this.#timed(() => this.#publish());
      const draining = await this.#timed(() => this.#drain());
      await this.#options.atMoment?.('drained');
      await this.#finish();
      const ledgers = this.#workers.flatMap(({ ledger }) => (ledger === undefined ? [] : [ledger]));
      return {
        ledgers,
        wasStopped: this.#options.stop.aborted,
        problems: this.#problems,
        seconds: { connecting, publishing, draining },
      };
    } finally {
      for (const { handle } of this.#workers) handle.kill();
    }
  }

  async #connect(): Promise<void> {
    const { assignment } = this.#options;
    this.#workers.forEach((worker, index) => {
      worker.handle.onAnswer((answer) => this.#take(worker, answer));
      worker.handle.tell({ type: 'connect', assignment: { ...assignment, worker: index } });
    });
    const seconds = this.#plan.clients / assignment.scenario.connectsPerSecond + CONNECT_GRACE_SECONDS;
    const isDone = await this.#until('connecting', seconds, ({ ready, failed, clients }) => {
      const isKnown = this.#workers.every(({ progress }) => progress !== undefined);
      const isHopeless = ready === 0 && failed >= HOPELESS_FAILURES;
      return isKnown && (ready + failed >= clients || isHopeless);
    });
    const { ready, failed } = this.#total();
    if (ready === 0 && failed > 0) throw new NoClientConnected(this.#mostFrequentProblem());
    if (!isDone) this.#problems.push('Not all clients were connected and subscribed in time.');
  }

  async #publish(): Promise<void> {
    const { stop, assignment, startAtMs } = this.#options;
    const { seconds } = assignment.size;
    if (stop.aborted || this.#hasFailed) return;
    if (this.#plan.publishesPerSecond === 0) {
      await this.#until('publishing', seconds, () => false);
      return;
    }
    const delayMs =
      startAtMs === undefined ? START_DELAY_MS : Math.max(START_DELAY_MS, startAtMs - Date.now());
    this.#checkStart(startAtMs);
    const startMicros = clockOf(assignment.clock)() + delayMs * 1_000;
    for (const { handle } of this.#workers) handle.tell({ type: 'publish', startMicros });
    const longest = Math.max(
      ...this.#plan.groups.map(({ publish }) =>
        publish === undefined ? 0 : messagesPerStream(this.#plan, publish.perSecond) / publish.perSecond,
      ),
    );
    const limit = delayMs / 1_000 + longest + SILENCE_SECONDS;
    // The first report after the order may still describe the time before it.
    const fromMs = performance.now() + delayMs;
    const isDone = await this.#until(
      'publishing',
      limit,
      ({ isPublished }) => isPublished && performance.now() > fromMs,
    );
    if (!isDone && !stop.aborted)
      this.#problems.push('The generator was too slow to publish everything in time.');
  }

  /** Other parts publish at the agreed moment, whether this one is ready or not. */
  #checkStart(startAtMs: number | undefined): void {
    const lateSeconds = startAtMs === undefined ? 0 : (Date.now() - startAtMs) / 1_000;
    if (lateSeconds <= 0) return;
    this.#problems.push(
      `This part was ready ${lateSeconds.toFixed(1)} s after --start-at: what others had published by then counts as lost.`,
    );
  }

  /** Waits until all sent messages have come, or no more come. */
  async #drain(): Promise<void> {
    if (this.#hasFailed) return;
    let last = -1;
    let sinceMs = performance.now();
    await this.#until('draining', Number.POSITIVE_INFINITY, ({ received, sent, underWay }) => {
      if (received !== last) {
        last = received;
        sinceMs = performance.now();
      }
      const expected = this.#expected(sent);
      if (underWay === 0 && received >= expected) return true;
      return performance.now() - sinceMs > SILENCE_SECONDS * 1_000;
    });
  }

  /** Deliveries that this many publishes should cause; the report counts exactly. */
  #expected(sent: number): number {
    const { publishesPerSecond, deliveriesPerSecond, size } = this.#plan;
    if (publishesPerSecond === 0) return 0;
    // Of several parts, other machines receive a share that is not known here.
    return size.part.of > 1
      ? Number.POSITIVE_INFINITY
      : Math.round((sent * deliveriesPerSecond) / publishesPerSecond);
  }

  async #finish(): Promise<void> {
    for (const { handle } of this.#workers) handle.tell({ type: 'finish' });
    const untilMs = performance.now() + FINISH_SECONDS * 1_000;
    while (!this.#hasFailed && this.#workers.some(({ ledger }) => ledger === undefined)) {
      if (performance.now() > untilMs) {
        this.#problems.push('A process of the generator did not close its books in time.');
        return;
      }
      await pause();
    }
  }

  /** Polls; false when the time is over, true when the condition holds or the run has to stop. */
  async #until(phase: RunPhase, seconds: number, isSo: (total: Progress) => boolean): Promise<boolean> {
    const untilMs = performance.now() + seconds * 1_000;
    for (;;) {
      await pause();
      for (const { handle } of this.#workers) handle.tell({ type: 'report' });
      const total = this.#total();
      this.#options.onProgress(phase, total);
      if (this.#options.stop.aborted || this.#hasFailed || isSo(total)) return true;
      if (performance.now() > untilMs) return false;
    }
  }

  #total(): Progress {
    const all = this.#workers.flatMap(({ progress }) => (progress === undefined ? [] : [progress]));
    const sum = (read: (progress: Progress) => number) =>
      all.reduce((total, progress) => total + read(progress), 0);
    return {
      ready: sum(({ ready }) => ready),
      failed: sum(({ failed }) => failed),
      clients: sum(({ clients }) => clients),
      sent: sum(({ sent }) => sent),
      received: sum(({ received }) => received),
      underWay: sum(({ underWay }) => underWay),
      isPublished: all.length === this.#workers.length && all.every(({ isPublished }) => isPublished),
    };
  }

  #mostFrequentProblem(): string {
    const all = this.#workers.flatMap(({ problems }) => problems).sort(([, a], [, b]) => b - a);
    return all[0]?.[0] ?? 'no client could connect';
  }

  #take(worker: Worker, answer: Answer): void {
    switch (answer.type) {
      case 'progress':
        worker.progress = answer.progress;
        worker.problems = answer.problems;
        return;
      case 'ledger':
        worker.ledger = answer.ledger;
        return;
      case 'failed':
        this.#hasFailed = true;
        this.#problems.push(`${answer.reason}.`);
        return;
    }
  }

  async #timed(phase: () => Promise<void>): Promise<number> {
    const fromMs = performance.now();
    await phase();
    return (performance.now() - fromMs) / 1_000;
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
