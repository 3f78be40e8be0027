import type { ValuePath } from './json-path.ts';
import { DIFFERENCES_MAX } from './limits.ts';
import { scalarText } from './pretty.ts';
import { type DecodedContainer, type DecodedValue, isContainer } from './value.ts';

/** One difference between two values. */
export interface Difference {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly path: ValuePath;
  readonly before: DecodedValue;
  readonly after: DecodedValue;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** How many there are beyond those that are listed. */
  readonly more: number;
}

/**
 * The differences between two values. Members are compared by name, array entries by index. A path is written only for
 * a difference that is listed: a payload can hold a hundred thousand of them, each below 200 levels.
 */
export function compareValues(before: DecodedValue, after: DecodedValue): Comparison {
  const differences: Difference[] = [];
  const path: (string | number)[] = [];
  let more = 0;
  const add = (kind: Difference['kind'], old: DecodedValue, now: DecodedValue): void => {
    if (differences.length < DIFFERENCES_MAX)
      differences.push({ kind, path: [...path], before: old, after: now });
    else more += 1;
  };
  const at = (step: string | number, visit: () => void): void => {
    path.push(step);
    visit();
    path.pop();
  };
  const compare = (old: DecodedValue, now: DecodedValue): void => {
    const areLists = Array.isArray(old) && Array.isArray(now);
    if (!isContainer(old) || !isContainer(now) || Array.isArray(old) !== Array.isArray(now)) {
      if (!isSame(old, now)) add('changed', old, now);
      return;
    }
    for (const name of Object.keys(old)) {
      at(areLists ? Number(name) : name, () => {
        if (Object.hasOwn(now, name)) compare(member(old, name), member(now, name));
        else add('removed', member(old, name), undefined);
      });
    }
    for (const name of Object.keys(now)) {
      if (!Object.hasOwn(old, name))
        at(areLists ? Number(name) : name, () => add('added', undefined, member(now, name)));
    }
  };
  compare(before, after);
  return { differences, more };
}

function member(container: DecodedContainer, name: string): DecodedValue {
  return (container as Readonly<Record<string, DecodedValue>>)[name];
}

/** Dates and exact numbers are equal if their texts are. */
function isSame(before: DecodedValue, after: DecodedValue): boolean {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null)
    return before === after || (Number.isNaN(before) && Number.isNaN(after));
  if (before instanceof Uint8Array && after instanceof Uint8Array)
    return before.length === after.length && before.every((byte, at) => byte === after[at]);
  return !isContainer(before) && !isContainer(after) && scalarText(before) === scalarText(after);
}
