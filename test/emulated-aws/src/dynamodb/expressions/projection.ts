import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { type Branch, branchOf, byNextStep, leafOf } from './branches.ts';
import { type Path, parsePath, refuseOverlaps } from './path.ts';
import type { Placeholders } from './placeholders.ts';
import { Tokens } from './tokens.ts';

export type Projection = readonly Path[];

type Branches = readonly Branch<undefined>[];

/** Parses a ProjectionExpression. Throws an ExpressionError. */
export function parseProjection(expression: string, placeholders: Placeholders): Projection {
  const tokens = new Tokens(expression);
  const paths: Path[] = [];
  do paths.push(parsePath(tokens, placeholders));
  while (tokens.takeIf(','));
  tokens.expectEnd();
  refuseOverlaps(paths);
  return paths;
}

/** The parts of the item at the paths. Elements of a list come in their order, without gaps. */
export function project(item: Item, projection: Projection): Item {
  return pruneMap(
    item,
    projection.map((path) => branchOf(path, undefined)),
  );
}

function prune(value: AttributeValue | undefined, branches: Branches): AttributeValue | undefined {
  if (value === undefined || branches.length === 0) return undefined;
  if (leafOf(branches) !== undefined) return value;
  if (value.M !== undefined) {
    const map = pruneMap(value.M, branches);
    return Object.keys(map).length === 0 ? undefined : { M: map };
  }
  const list = pruneList(value.L ?? [], branches);
  return list.length === 0 ? undefined : { L: list };
}

function pruneMap(map: Item, branches: Branches): Item {
  const pruned = newItem();
  for (const [name, below] of byNextStep(branches)) {
    const value = typeof name === 'string' ? prune(map[name], below) : undefined;
    if (value !== undefined) pruned[name] = value;
  }
  return pruned;
}

function pruneList(list: readonly AttributeValue[], branches: Branches): readonly AttributeValue[] {
  const byIndex = byNextStep(branches);
  return list.flatMap((element, index) => prune(element, byIndex.get(index) ?? NOTHING) ?? []);
}

/** No path leads here. */
const NOTHING: Branches = [];
