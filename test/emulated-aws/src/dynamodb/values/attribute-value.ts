/** An attribute's value on the wire: exactly one member is present. Bytes are base64. */
export interface AttributeValue {
  readonly S?: string;
  readonly N?: string;
  readonly B?: string;
  readonly BOOL?: boolean;
  readonly NULL?: boolean;
  readonly SS?: readonly string[];
  readonly NS?: readonly string[];
  readonly BS?: readonly string[];
  readonly L?: readonly AttributeValue[];
  readonly M?: Item;
}

export type TypeName = keyof AttributeValue;
export type SetTypeName = 'SS' | 'NS' | 'BS';

/** Without a prototype: an attribute may be called `constructor` or `__proto__`. Never changed once stored. */
export type Item = Readonly<Record<string, AttributeValue>>;
export type MutableItem = Record<string, AttributeValue>;

export const TYPE_NAMES: readonly TypeName[] = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];

const KNOWN_TYPES: ReadonlySet<string> = new Set(TYPE_NAMES);

export function isTypeName(name: string): name is TypeName {
  return KNOWN_TYPES.has(name);
}

/** The one type of a value that `readValue` has read. */
export function typeOf(value: AttributeValue): TypeName {
  for (const name in value) if (isTypeName(name)) return name;
  throw new Error('an attribute value without a type');
}

export function newItem(): MutableItem {
  return Object.create(null);
}

export function copyOf(item: Item): MutableItem {
  return Object.assign(newItem(), item);
}

/** The members of a set, and which kind of set it is; undefined for any other value. */
export function setOf(
  value: AttributeValue,
): { readonly type: SetTypeName; readonly members: readonly string[] } | undefined {
  if (value.SS !== undefined) return { type: 'SS', members: value.SS };
  if (value.NS !== undefined) return { type: 'NS', members: value.NS };
  return value.BS === undefined ? undefined : { type: 'BS', members: value.BS };
}
