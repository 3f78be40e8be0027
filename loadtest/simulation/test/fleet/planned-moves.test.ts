import { describe, expect, it } from 'vitest';
import * as client from '../../../../packages/client/src/limits.ts';
import {
  cutsForAge,
  DEFAULT_QUOTAS,
  fleetFrom,
  MOVE_AGAIN_MS,
  MOVE_FROM,
  MOVE_UNTIL,
  NO_QUOTAS,
  plannedMoves,
} from '../../src/index.ts';

const fleet = fleetFrom({ clients: 10_000, connectedWithinSeconds: 10 });

describe('sessions that move ahead of the cut', () => {
  it('do so at the ages that the client has', () => {
    expect([MOVE_FROM, MOVE_UNTIL, MOVE_AGAIN_MS]).toEqual([
      client.MOVE_FROM,
      client.MOVE_UNTIL,
      client.MOVE_AGAIN_MS,
    ]);
    const { firstSeconds, lastSeconds } = plannedMoves(fleet, NO_QUOTAS);
    expect(firstSeconds).toBeGreaterThanOrEqual(7_200 * MOVE_FROM);
    expect(lastSeconds).toBeLessThan(7_200 * MOVE_UNTIL + 10);
  });

  it('have spread over 21 % of two hours: 6.6 a second, where cuts come at the thousand of the connects', () => {
    const moves = plannedMoves(fleet, NO_QUOTAS);
    expect(moves.peak).toBeGreaterThan(10_000 / 1_512);
    expect(moves.peak).toBeLessThan(30);
    expect(cutsForAge(fleet, NO_QUOTAS).peak).toBeGreaterThan(950);
    expect(moves.refused).toBe(0);
  });

  it('are refused by no quota of 500 a second, where cuts are', () => {
    expect(plannedMoves(fleet, DEFAULT_QUOTAS).refused).toBe(0);
    expect(cutsForAge(fleet, DEFAULT_QUOTAS).refused).toBeGreaterThan(1_000);
  });

  it('come again a minute later where they are refused', () => {
    const two = fleetFrom({ clients: 2, connectedWithinSeconds: 1, connectionSeconds: 60 });
    const quotas = { ...NO_QUOTAS, newConnectionsPerSecond: 0.000_1 };
    expect(plannedMoves(two, quotas).refused).toBeGreaterThan(50);
  });
});
