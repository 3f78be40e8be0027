import { MESSAGES_MAX, PACKETS_MAX } from '../../src/engine/limits.ts';
import type { PauseSeen } from './pause.ts';
import { highest, median } from './statistics.ts';
import { count, mebibytes, milliseconds } from './words.ts';

/** People notice a longer frame as a stop: the limit of a good "Interaction to Next Paint". */
export const FROZEN_MS = 200;

/** Growth of memory from the first to the last third of the samples that counts as a leak. */
export const GROWTH_MAX = 0.1;

/** Growth below this comes from the garbage collector, however small the heap is. */
export const GROWTH_MIN_BYTES = 8 * 1024 * 1024;

/** The time in which logs and drawing buffers fill, before memory can be flat. */
export const WARM_UP_SECONDS = 60;

/** A run whose generator published less than this share of the requested rate does not count. */
export const RATE_SHARE_MIN = 0.98;

/** The measurements of one second. */
export interface Second {
  readonly view: string;
  readonly frames: readonly number[];
  readonly longTasks: readonly number[];
  readonly latencies: readonly number[];
  /** How long the page really took to answer, in milliseconds. */
  readonly elapsedMs: number;
  /** Processor time of the page's thread. */
  readonly threadMs: number;
  /** The page's heap after a forced collection, in the seconds with one. */
  readonly heapBytes: number | undefined;
  /** The renderer's process, its worker and buffers included. */
  readonly residentBytes: number | undefined;
}

export interface Run {
  readonly seconds: readonly Second[];
  readonly sent: number;
  readonly sendingMs: number;
  readonly received: number;
  readonly skipped: number;
  /**
   * The longest frame in which a view was opened. It does not count for the verdict: no user clicks in the other
   * frames.
   */
  readonly openingMs: number;
  readonly pause: PauseSeen | undefined;
  /** The messages in the logs at the end. */
  readonly messagesKept: number;
  readonly packetsKept: number;
}

/** The problems of a run; empty for a good one. */
export function problemsOf(run: Run, rate: number): string[] {
  return [
    ...frameProblems(run.seconds),
    ...growthProblems('heap', run.seconds, 'heapBytes'),
    ...growthProblems('process', run.seconds, 'residentBytes'),
    ...deliveryProblems(run, rate),
    ...pauseProblems(run.pause),
  ];
}

function frameProblems(seconds: readonly Second[]): string[] {
  const frames = seconds.flatMap((second) => second.frames);
  if (frames.length === 0) return ['no frame was drawn'];
  const longest = highest(frames);
  return longest > FROZEN_MS ? [`a frame took ${milliseconds(longest)}`] : [];
}

function growthProblems(
  name: string,
  seconds: readonly Second[],
  key: 'heapBytes' | 'residentBytes',
): string[] {
  const { from, to } = growthOf(seconds, key);
  if (to - from <= Math.max(GROWTH_MIN_BYTES, from * GROWTH_MAX)) return [];
  return [`memory of the ${name} grew from ${mebibytes(from)} to ${mebibytes(to)}`];
}

/** The middle of the first third of the samples, and of the last. */
export function growthOf(
  seconds: readonly Second[],
  key: 'heapBytes' | 'residentBytes',
): { from: number; to: number } {
  const samples = seconds
    .slice(WARM_UP_SECONDS)
    .map((second) => second[key])
    .filter((value) => value !== undefined);
  const third = Math.max(1, Math.floor(samples.length / 3));
  return { from: median(samples.slice(0, third)), to: median(samples.slice(-third)) };
}

function deliveryProblems(run: Run, rate: number): string[] {
  const { sent, sendingMs, received, messagesKept, packetsKept } = run;
  const problems: string[] = [];
  const wanted = (rate * sendingMs) / 1_000;
  if (sent < wanted * RATE_SHARE_MIN)
    problems.push(`the generator published ${count(sent)} of ${count(Math.round(wanted))} messages`);
  if (received !== sent)
    problems.push(`${count(sent - received)} of ${count(sent)} messages did not reach the page`);
  if (messagesKept > MESSAGES_MAX) problems.push(`the log kept ${count(messagesKept)} messages`);
  if (packetsKept > PACKETS_MAX) problems.push(`the timeline kept ${count(packetsKept)} packets`);
  return problems;
}

function pauseProblems(pause: PauseSeen | undefined): string[] {
  if (pause === undefined) return [];
  return [
    ...(pause.stoodStill ? [] : ['the messages moved while they were paused']),
    ...(pause.toldOf > 0 ? [] : ['the pause did not tell of new messages']),
    ...(pause.wentOn ? [] : ['the messages did not go on after the pause']),
  ];
}
