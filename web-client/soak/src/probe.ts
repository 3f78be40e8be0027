/** The measurements of the page since the last read. */
export interface Seen {
  /** How long each frame took, in milliseconds. */
  readonly frames: readonly number[];
  /** Tasks of more than 50 ms on the page's thread, in milliseconds. */
  readonly longTasks: readonly number[];
  /** From the publisher's clock to the page, in milliseconds, of the oldest message of each batch. */
  readonly latencies: readonly number[];
  /** Messages that the worker handed to the page, since the page was opened. */
  readonly messages: number;
  /** Messages that the worker dropped because the page took none, since the page was opened. */
  readonly skipped: number;
}

/** Columns of a batch; a function that runs in the page gets them as arguments. */
export interface BatchColumns {
  readonly count: number;
  readonly atMs: number;
  readonly latencyMs: number;
}

type Probe = { -readonly [key in keyof Seen]: Seen[key] extends number ? number : number[] };

interface Globals {
  apusProbe: Probe;
  Worker: typeof Worker;
}

/** Runs in the page before its own scripts, and must not use variables from outside. */
export function installProbe({ count, atMs, latencyMs }: BatchColumns): void {
  const globals = globalThis as unknown as Globals;
  const probe: Probe = { frames: [], longTasks: [], latencies: [], messages: 0, skipped: 0 };
  globals.apusProbe = probe;
  let last = performance.now();
  const frame = (now: number): void => {
    probe.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) probe.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: false });
  globals.Worker = class extends globals.Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      this.addEventListener('message', ({ data }) => {
        if (data.type === 'batch') {
          const columns: Float64Array = data.batch.messages;
          probe.messages += columns.length / count;
          const sentAtMs = (columns[atMs] ?? Number.NaN) - (columns[latencyMs] ?? Number.NaN);
          if (!Number.isNaN(sentAtMs))
            probe.latencies.push(performance.timeOrigin + performance.now() - sentAtMs);
        } else if (data.type === 'status') {
          probe.skipped = Math.max(probe.skipped, data.status.traffic.skipped);
        }
      });
    }
  };
}

/** Runs in the page: takes the measurements since the last read. */
export function drainProbe(): Seen {
  const probe = (globalThis as unknown as Globals).apusProbe;
  const { frames, longTasks, latencies, messages, skipped } = probe;
  probe.frames = [];
  probe.longTasks = [];
  probe.latencies = [];
  return { frames, longTasks, latencies, messages, skipped };
}
