import type { AttributeValue } from '../values/attribute-value.ts';
import type { Path } from './path.ts';

/** The right-hand side of an assignment. */
export type Assigned =
  | { readonly kind: 'path'; readonly path: Path }
  | { readonly kind: 'value'; readonly value: AttributeValue }
  | { readonly kind: 'sum' | 'difference'; readonly left: Assigned; readonly right: Assigned }
  | { readonly kind: 'if_not_exists'; readonly path: Path; readonly otherwise: Assigned }
  | { readonly kind: 'list_append'; readonly first: Assigned; readonly second: Assigned };

export type Change =
  | { readonly kind: 'set'; readonly path: Path; readonly assigned: Assigned }
  | { readonly kind: 'remove'; readonly path: Path }
  /** A number, or members for a set. */
  | { readonly kind: 'add'; readonly path: Path; readonly value: AttributeValue }
  /** Members of a set. */
  | { readonly kind: 'delete'; readonly path: Path; readonly value: AttributeValue };

/** An UpdateExpression whose names and values have been filled in. No two of its paths overlap. */
export type Update = readonly Change[];
