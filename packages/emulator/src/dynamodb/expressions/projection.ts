import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { type Path, parsePath, refuseOverlaps } from './path.ts';
import type { Placeholders } from './placeholders.ts';
import { Tokens } from './tokens.ts';

export type Projection = readonly Path[];

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
  const projected = newItem();
  for (const [name, branch] of branchesOf(projection.map((path) => [...path]))) {
    const value = prune(item[String(name)], branch);
    if (value !== undefined) projected[String(name)] = value;
  }
  return projected;
}

type Steps = (string | number)[];

/** Paths by their first step; an empty path is the whole of what stands there. */
function branchesOf(paths: readonly Steps[]): Map<string | number, Steps[]> {
  const branches = new Map<string | number, Steps[]>();
  for (const [step, ...rest] of paths) {
    if (step === undefined) continue;
    branches.set(step, [...(branches.get(step) ?? []), rest]);
  }
  return branches;
}

function prune(value: AttributeValue | undefined, paths: readonly Steps[]): AttributeValue | undefined {
  if (value === undefined || paths.some((path) => path.length === 0)) return value;
  const branches = branchesOf(paths);
  return value.M !== undefined ? pruneMap(value.M, branches) : pruneList(value.L ?? [], branches);
}

function pruneMap(map: Item, branches: Map<string | number, Steps[]>): AttributeValue | undefined {
  const pruned = newItem();
  for (const [name, branch] of branches) {
    const value = typeof name === 'string' ? prune(map[name], branch) : undefined;
    if (value !== undefined) pruned[name] = value;
  }
  return Object.keys(pruned).length === 0 ? undefined : { M: pruned };
}

function pruneList(list: readonly AttributeValue[], branches: Map<string | number, Steps[]>) {
  const pruned = [...branches]
    .filter(([index]) => typeof index === 'number')
    .sort(([one], [other]) => Number(one) - Number(other))
    .flatMap(([index, branch]) => prune(list[Number(index)], branch) ?? []);
  return pruned.length === 0 ? undefined : { L: pruned };
}
