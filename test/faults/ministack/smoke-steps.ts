import type { Size } from '../size.ts';
import { type Step, stepsOf } from '../steps.ts';

/** Unanswered frames have come to their end. */
const HEALED_AFTER_MS = 6_000;

/**
 * The history of a seed, without the things that only a timer of minutes or the sweep finds: no test waits for
 * those here. For the same reason every connection breaks once more when the faults have stopped: what a handler that died has
 * left in a window is sent on the next one.
 */
export function smokeSteps(seed: number, size: Size): Step[] {
  const drawn = stepsOf(seed, size).flatMap((step, index): Step[] => {
    if (step.kind === 'mortal') return [];
    if (step.kind === 'end-reader' && step.how === 'unplug') return [{ ...step, how: 'vanish' }];
    if (step.kind === 'end' && step.how === 'unplug') return [{ ...step, how: 'vanish' }];
    // Half as many: each costs some thirty requests to another process.
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
