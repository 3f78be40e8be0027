import { FRAMES_PER_SECOND, POSTS_PER_SECOND } from './defaults.ts';
import type { ApusBrokerProps } from './props.ts';

/** A new table serves 12,000 reads and 4,000 writes a second, and is warmed in that proportion. */
export const READS_PER_WRITE = 3;

/** Units a second that an account's quota allows each table, for reads and for writes. */
const UNITS_QUOTA = 40_000;

/** Units of each of the two tables for one frame of a client, and for one post of a worker. */
interface Units {
  readonly reads: number;
  readonly writes: number;
}

/**
 * With both tables more than twice the dearest frame that clients send all day (loadtest/results/operations.md):
 * DISCONNECT writes 3 units, some to each table, SUBSCRIBE with 50 retained messages reads 12. The SUBSCRIBE that widens a filter, once, writes 6.
 *
 * The dearest frame of all is above every bound that would help. 96 KB hold one retained message of 97 write units, or
 * thousands of small ones and of filters at 1 and 2 units each. Such frames are what the maximum
 * stops.
 */
const FRAME: Units = { reads: 8, writes: 4 };

/**
 * A copy of QoS 2 for a persistent session takes 3 writes and 3 reads with its acknowledgements; one of QoS 1 takes 2 and
 * 2, or 1 and 3 if the client is away. The reads left over are the sweep's, which scans: 128 units a page.
 */
const POST: Units = { reads: 4, writes: 2 };

/** The on-demand maximum of each of the two tables; undefined: only the account's quota applies. */
export interface TableMaximum {
  readonly maxReadRequestUnits?: number;
  readonly maxWriteRequestUnits?: number;
}

/**
 * Units a second that DynamoDB serves at most. This is the last limit of a bill, and it throttles all clients. So it is
 * well above the use of ordinary traffic within the throttles of frames and posts. [SEC-COST-1]
 */
export function tableMaximumOf({ throttle, fanOut, table = {} }: ApusBrokerProps): TableMaximum {
  const frames = throttle?.framesPerSecond ?? FRAMES_PER_SECOND;
  const posts = fanOut?.maxPostsPerSecond ?? POSTS_PER_SECOND;
  const warmWrites = table.warmWriteUnitsPerSecond ?? 0;
  const reads = unitsOf(table.maxReadRequestUnits, [
    frames * FRAME.reads + posts * POST.reads,
    warmWrites * READS_PER_WRITE,
  ]);
  const writes = unitsOf(table.maxWriteRequestUnits, [
    frames * FRAME.writes + posts * POST.writes,
    warmWrites,
  ]);
  return {
    ...(reads !== undefined && { maxReadRequestUnits: reads }),
    ...(writes !== undefined && { maxWriteRequestUnits: writes }),
  };
}

/** The owner's maximum, or else the largest need. With 0, or more than the quota, there is no maximum. */
function unitsOf(given: number | undefined, needed: readonly number[]): number | undefined {
  if (given !== undefined) return given === 0 ? undefined : given;
  const units = Math.max(...needed);
  return units < UNITS_QUOTA ? units : undefined;
}
