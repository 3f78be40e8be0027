import { type DoorName, doorUnderTest, isClusterUnderTest } from './door.ts';

/**
 * Options of `it` and `describe` for what cannot hold at another door: `it('…', onlyAt('node', 'why'), async () => …)`.
 * Where a normative statement is touched, docs/conformance/deviations.json has it too.
 */
export function onlyAt(door: DoorName, _reason: string): { readonly skip: boolean } {
  return { skip: doorUnderTest !== door };
}

/** Options of `it` for what holds at one process of a cluster, and not at all of them together. */
export function notInACluster(_reason: string): { readonly skip: boolean } {
  return { skip: isClusterUnderTest };
}

/** For an expectation that is another at this door: `differsAt('gateway', 'why') ? … : …`. */
export function differsAt(door: DoorName, _reason: string): boolean {
  return doorUnderTest === door;
}
