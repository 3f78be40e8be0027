import type { BurstProgress, BurstRequest, Outcome, PublishRequest } from '../types.ts';
import type { Later } from './batcher.ts';

/** The interval in which a burst sends due messages, in milliseconds. */
const TICK_MS = 10;

/** How often the page gets the progress, in milliseconds. */
const PROGRESS_MS = 250;

/** Publishes without their acknowledgement: above it a burst waits, so that a slow server is not overloaded. */
const OUTSTANDING_MAX = 1_000;

export interface BurstOptions {
  publish(request: PublishRequest): Promise<Outcome>;
  progress(progress: BurstProgress): void;
  now(): number;
  readonly later: Later;
}

const encoder = new TextEncoder();

/** Publishes many messages at a rate. Returns a function that stops it. */
export function startBurst(request: BurstRequest, options: BurstOptions): () => void {
  const { now, later, progress } = options;
  const startedAtMs = now();
  let toldAtMs = startedAtMs;
  let started = 0;
  let sent = 0;
  let failed = 0;
  let cancel = (): void => {};
  let isStopped = false;

  const tick = (): void => {
    const due = Math.ceil(((now() - startedAtMs) * request.ratePerSecond) / 1_000);
    const room = OUTSTANDING_MAX - (started - sent - failed);
    const count = Math.min(request.count, due, started + room);
    for (; started < count; started += 1) {
      void options.publish(messageOf(request, started)).then(({ ok }) => {
        if (ok) sent += 1;
        else failed += 1;
      });
    }
    const isDone = sent + failed === request.count;
    if (isDone || now() - toldAtMs >= PROGRESS_MS) {
      toldAtMs = now();
      progress({ sent, failed, done: isDone });
    }
    isStopped = isDone;
    if (!isDone) cancel = later(tick, TICK_MS);
  };
  tick();
  return () => {
    if (isStopped) return;
    isStopped = true;
    cancel();
    progress({ sent, failed, done: true });
  };
}

function messageOf({ topic, payload, qos, retain, properties }: BurstRequest, index: number): PublishRequest {
  const number = String(index);
  return {
    topic: topic.replaceAll('{n}', number),
    payload: encoder.encode(payload.replaceAll('{n}', number).replaceAll('{now}', String(Date.now()))),
    qos,
    retain,
    properties,
  };
}
