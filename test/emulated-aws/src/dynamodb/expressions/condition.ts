import type { AttributeValue } from '../values/attribute-value.ts';
import type { Path } from './path.ts';

export const COMPARATORS = ['=', '<>', '<', '<=', '>', '>='] as const;
export type Comparator = (typeof COMPARATORS)[number];

export type Operand =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'size'; readonly of: Operand };

export type ConditionFunction =
  | 'attribute_exists'
  | 'attribute_not_exists'
  | 'attribute_type'
  | 'begins_with'
  | 'contains';

/** A condition, filter or key condition whose names and values have been filled in. */
export type Condition =
  | {
      readonly kind: 'compare';
      readonly comparator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly kind: 'between'; readonly operand: Operand; readonly low: Operand; readonly high: Operand }
  | { readonly kind: 'in'; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly kind: 'function'; readonly name: ConditionFunction; readonly operands: readonly Operand[] }
  | { readonly kind: 'and' | 'or'; readonly left: Condition; readonly right: Condition }
  | { readonly kind: 'not'; readonly condition: Condition };
