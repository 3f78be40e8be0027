export interface Size {
  /** How long clients go on, in milliseconds. */
  readonly durationMs: number;
  readonly publishers: number;
  readonly subscribers: number;
  readonly members: number;
  /**
   * Whether clients stay for two hours, with only heartbeats and faults in between, and are active again while the
   * gateway cuts them for their age.
   * @default at every tenth seed
   */
  readonly ages?: boolean;
  /** Whether there is a room with members and watchers. @default at every second seed */
  readonly hasRoom?: boolean;
  /**
   * Whether there are rules and bridges.
   * @default at every fourth seed
   */
  readonly hasOutside?: boolean;
  /** Whether some subscribe with `conflate-ms`. @default at every fourth seed */
  readonly hasConflated?: boolean;
}

const AGES_EVERY_SEEDS = 10;
const ROOM_EVERY_SEEDS = 2;
const OUTSIDE_EVERY_SEEDS = 4;
const OUTSIDE_FROM_SEED = 2;
const CONFLATED_EVERY_SEEDS = 4;

export function hasRoom(seed: number, { hasRoom = seed % ROOM_EVERY_SEEDS === 1 }: Size): boolean {
  return hasRoom;
}

/** Never together with a room by default: a history with everything takes twice as long. */
export function hasOutside(
  seed: number,
  { hasOutside = seed % OUTSIDE_EVERY_SEEDS === OUTSIDE_FROM_SEED }: Size,
): boolean {
  return hasOutside;
}

/** By default neither with a room nor with two hours. */
export function hasConflated(
  seed: number,
  { hasConflated = seed % CONFLATED_EVERY_SEEDS === 0 }: Size,
): boolean {
  return hasConflated;
}

export function isAged(seed: number, { ages = seed % AGES_EVERY_SEEDS === 0 }: Size): boolean {
  return ages;
}
