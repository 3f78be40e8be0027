import { type DoorName, doorUnderTest, isClusterUnderTest } from './door.ts';
import { type Skip, skipFor } from './skips.ts';

/**
 * Options of `it` and `describe` for behaviour that another door cannot have: `it('…', onlyAt('node', 'why'), async ()
 * => …)`. If it concerns a normative statement, docs/conformance/deviations.json lists it too.
 */
export function onlyAt(door: DoorName, _reason: string): Skip {
  return skipFor(doorUnderTest !== door && `are about the ${door} door alone`);
}

/** Options of `it` for behaviour of one process of a cluster that all of them together do not have. */
export function notInACluster(_reason: string): Skip {
  return skipFor(isClusterUnderTest && 'are about a single process');
}

/** For an expectation that differs at this door: `differsAt('gateway', 'why') ? … : …`. */
export function differsAt(door: DoorName, _reason: string): boolean {
  return doorUnderTest === door;
}
