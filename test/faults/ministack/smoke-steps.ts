import type { Size } from '../size.ts';
import { type Step, stepsOf } from '../steps.ts';

/** By then unanswered frames have been given up. */
const HEALED_AFTER_MS = 6_000;

/**
 * The history of a seed, without events that only a timer of minutes or the sweep finds: the test does not wait for
 * those. For the same reason every connection breaks once more after the faults: messages that a dead handler has left
 * in a window are sent on the next connection.
 */
export function smokeSteps(seed: number, size: Size): Step[] {
  const drawn = stepsOf(seed, size).flatMap((step, index): Step[] => {
    if (step.kind === 'mortal') return [];
    if (step.kind === 'end-reader' && step.how === 'unplug') return [{ ...step, how: 'vanish' }];
    if (step.kind === 'end' && step.how === 'unplug') return [{ ...step, how: 'vanish' }];
    // Half as many: each takes some thirty requests to another process.
    return step.kind === 'publish' && index % 2 === 0 ? [] : [step];
  });
  const atMs = size.durationMs + HEALED_AFTER_MS;
  const clients = size.publishers + size.subscribers + size.members;
  const breaks = Array.from(
    { length: clients },
    (_, client): Step => ({ kind: 'end', atMs, client, how: 'cut', awayMs: 0 }),
  );
  return [...drawn, ...breaks];
}
