import microdiff from 'microdiff';
import { type ValuePath, valueAt } from './json-path.ts';
import { DIFFERENCES_MAX } from './limits.ts';
import { scalarText } from './pretty.ts';
import { type DecodedValue, isContainer } from './value.ts';

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

const KINDS = { CREATE: 'added', REMOVE: 'removed', CHANGE: 'changed' } as const;

/**
 * The differences between two values, in the order of the newer one. Members are compared by name, array entries by
 * index.
 */
export function compareValues(before: DecodedValue, after: DecodedValue): Comparison {
  const all = microdiff({ root: comparable(before) }, { root: comparable(after) }, { cyclesFix: false });
  const differences = all.slice(0, DIFFERENCES_MAX).map(({ type, path }): Difference => {
    const inside = path.slice(1);
    return {
      kind: KINDS[type],
      path: inside,
      before: valueAt(before, inside) as DecodedValue,
      after: valueAt(after, inside) as DecodedValue,
    };
  });
  return { differences, more: all.length - differences.length };
}

/** Bytes, dates and exact numbers as readable text: two are equal if their texts are. */
function comparable(value: DecodedValue): DecodedValue {
  if (!isContainer(value)) return typeof value === 'object' && value !== null ? scalarText(value) : value;
  if (Array.isArray(value)) return value.map(comparable);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
}
