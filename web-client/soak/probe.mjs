// Runs in the page before its own scripts: watches frames, long tasks, and what the worker hands over.

/** Columns of a message in a batch; the soak test fails loudly when counts do not fit. */
export function installProbe({ messageColumns }) {
  const probe = { frames: [], longTasks: [], messages: 0, skipped: 0 };
  globalThis.apusProbe = probe;
  let last = performance.now();
  const frame = (now) => {
    probe.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) probe.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: false });
  globalThis.Worker = class extends globalThis.Worker {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        if (data.type === 'batch') probe.messages += data.batch.messages.length / messageColumns;
        if (data.type === 'status') probe.skipped = Math.max(probe.skipped, data.status.traffic.skipped);
      });
    }
  };
}

/** Takes what was seen since it was last asked. */
export function drainProbe() {
  const { frames, longTasks, messages, skipped } = globalThis.apusProbe;
  globalThis.apusProbe.frames = [];
  globalThis.apusProbe.longTasks = [];
  return { frames, longTasks, messages, skipped };
}
