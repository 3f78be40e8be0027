import { Violation } from '@apus/mqtt';
import type { Streams } from '../ports/index.ts';
import { parseStreamFilter } from './names.ts';

/**
 * Intervals of conflated groups, in milliseconds; a subscription joins the next longer one. Each group of a filter has
 * a tick of its own, so there are few. A timer of SQS takes whole seconds, and at most a quarter of an hour.
 */
export const GROUP_INTERVALS_MS = [1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 300_000, 900_000] as const;

/** The interval for a subscription that asks for `ms`; or a sentence that says why there is none. */
export function groupIntervalOf(
  streams: Streams | undefined,
  topicFilter: string,
  ms: number,
): number | string {
  const named = parseStreamFilter(topicFilter, streams);
  const stream =
    named instanceof Violation ? undefined : (named?.stream ?? streams?.declared.coveringFilter(topicFilter));
  if (stream?.snapshot !== true)
    return 'this door conflates topics of a stream that keeps the last value of each key, and no others';
  const [shortest] = GROUP_INTERVALS_MS;
  if (ms < shortest) return `this door conflates by ${shortest} milliseconds or more`;
  return (
    GROUP_INTERVALS_MS.find((each) => each >= ms) ??
    `this door conflates by at most ${GROUP_INTERVALS_MS.at(-1)} milliseconds`
  );
}
