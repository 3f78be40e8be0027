/** Calls back before the next frame, or soon if no frames are rendered: in a hidden page or a test. */
export type Schedule = (callback: () => void) => void;

/** A hidden page gets no animation frames; its logs go on, and their listeners are called at this interval. */
const HIDDEN_INTERVAL_MS = 250;

export const nextFrame: Schedule = (callback) => {
  if (typeof requestAnimationFrame === 'undefined') setTimeout(callback, 0);
  else if (document.hidden) setTimeout(callback, HIDDEN_INTERVAL_MS);
  else requestAnimationFrame(() => callback());
};

/** The interval between updates of a stream: eyes follow no faster, and each update takes time from new messages. */
const STREAM_INTERVAL_MS = 50;

/** The share of time that updates may take on a slow machine, which has the rest for new messages and for its user. */
const SHARE_OF_TIME = 0.2;

/** However slow the machine is, a stream is updated as often as this. */
const SLOW_INTERVAL_MS = 250;

/**
 * Renders a single message in the next frame, and a stream of them once in each interval, which is longer where a frame
 * with an update takes long.
 */
export function steadyFrames(): Schedule {
  let nextAtMs = Number.NEGATIVE_INFINITY;
  return (callback) => {
    const draw = (): void => {
      const beganAtMs = performance.now();
      const measure = (): void => {
        const tookMs = performance.now() - beganAtMs;
        const intervalMs = Math.max(STREAM_INTERVAL_MS, tookMs / SHARE_OF_TIME);
        nextAtMs = beganAtMs + Math.min(intervalMs, SLOW_INTERVAL_MS);
      };
      callback();
      measure();
      // After the frame, whose layout and paint count too.
      setTimeout(measure);
    };
    // How long a frame took may become known while the next one waits.
    const wait = (): void => {
      const waitMs = nextAtMs - performance.now();
      if (waitMs > 0) setTimeout(wait, waitMs);
      else nextFrame(draw);
    };
    wait();
  };
}

/** Listeners that are called once for any number of changes, before a frame. */
export class FrameListeners {
  readonly #listeners = new Set<() => void>();
  readonly #schedule: Schedule;
  #scheduled = false;

  constructor(schedule: Schedule = steadyFrames()) {
    this.#schedule = schedule;
  }

  add(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  changed(): void {
    if (this.#scheduled || this.#listeners.size === 0) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      for (const listener of [...this.#listeners]) listener();
    });
  }
}
