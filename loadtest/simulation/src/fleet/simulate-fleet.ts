import { DEFAULT_QUOTAS, type Quotas } from '../quotas.ts';
import { WAYS } from './fleet.ts';
import { type Outcome, returnOf } from './outcome.ts';
import { cutsForAge, type PlannedHandshakes, plannedMoves } from './planned-moves.ts';
import type { FleetWorkload } from './workload.ts';

export interface FleetPrediction {
  readonly workload: FleetWorkload;
  readonly quotas: Quotas;
  /** Each way with each wait before the first try: none, the given one, and the one that fits the quota. */
  readonly outcomes: readonly Outcome[];
  readonly moves: PlannedHandshakes;
  readonly cuts: PlannedHandshakes;
}

/** Compares the ways in which a fleet returns that was cut at one moment, and its planned moves with cuts. */
export function simulateFleet(workload: FleetWorkload, quotas: Quotas = DEFAULT_QUOTAS): FleetPrediction {
  const waits = [...new Set([0, workload.firstWaitSeconds, fittingSeconds(workload, quotas)])];
  const outcomes = waits.flatMap((firstWaitSeconds) =>
    WAYS.map((way) => returnOf(workload, { way, firstWaitSeconds, quotas })),
  );
  const moves = plannedMoves(workload, quotas);
  return { workload, quotas, outcomes, moves, cuts: cutsForAge(workload, quotas) };
}

/** The wait that spreads the fleet over the time that the quota of new connections needs for it. */
function fittingSeconds({ clients }: FleetWorkload, { newConnectionsPerSecond }: Quotas): number {
  return Math.ceil(clients / newConnectionsPerSecond);
}
