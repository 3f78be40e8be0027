import type { View } from './options.ts';

/** A time in which the page shows one thing. */
export interface Phase {
  readonly view: View;
  readonly isPaused: boolean;
  readonly seconds: number;
}

/** Part of the time of the messages view in which it is paused. */
const PAUSED_SHARE = 0.1;

/** The views one after the other for equal times; the messages view is paused in its middle, and resumed. */
export function phasesOf(views: readonly View[], seconds: number): Phase[] {
  const each = Math.max(1, Math.floor(seconds / views.length));
  return views.flatMap((view): Phase[] => {
    if (view !== 'messages') return [{ view, isPaused: false, seconds: each }];
    const paused = Math.max(1, Math.round(each * PAUSED_SHARE));
    const before = Math.max(1, Math.floor((each - paused) / 2));
    return [
      { view, isPaused: false, seconds: before },
      { view, isPaused: true, seconds: paused },
      { view, isPaused: false, seconds: Math.max(1, each - paused - before) },
    ];
  });
}
