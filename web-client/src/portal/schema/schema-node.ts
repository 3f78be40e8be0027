import { type Fields, fieldsOf, listOf, numberOf, textOf } from '../document/fields.ts';
import { jsonOf } from '../document/read-document.ts';
import { REFERENCES_MAX, TEXT_LENGTH_MAX, VALUE_LENGTH_MAX, VALUES_SHOWN } from '../limits.ts';
import { schemaText } from '../strings.ts';

/** One schema as the page shows it. Its children are read when the reader opens it: a schema may refer to itself. */
export interface SchemaNode {
  readonly type: string;
  readonly description: string | undefined;
  /** In words. */
  readonly constraints: readonly string[];
  /** How many children there are. */
  readonly size: number;
  children(): readonly SchemaChild[];
}

export interface SchemaChild {
  readonly name: string;
  /** A field by its name, or words for another place. */
  readonly isField: boolean;
  readonly isRequired: boolean;
  readonly schema: unknown;
}

/** @param roots documents in which references are looked up, the schema itself first */
export function schemaNode(given: unknown, roots: readonly unknown[]): SchemaNode {
  const schema = resolved(given, roots);
  if (schema === undefined) return NOTHING_KNOWN(given === false);
  const children = childrenOf(schema);
  return {
    type: typeOf(schema),
    description: textOf(schema.description, TEXT_LENGTH_MAX) ?? textOf(schema.title, TEXT_LENGTH_MAX),
    constraints: constraintsOf(schema),
    size: children.reduce((sum, group) => sum + group.size, 0),
    children: () => children.flatMap((group) => group.list()),
  };
}

const NOTHING_KNOWN = (isNever: boolean): SchemaNode => ({
  type: isNever ? schemaText.nothing : schemaText.anything,
  description: undefined,
  constraints: [],
  size: 0,
  children: () => [],
});

/** Follows references; undefined if they lead nowhere, or in a circle. */
function resolved(given: unknown, roots: readonly unknown[]): Fields | undefined {
  let schema = fieldsOf(given);
  for (let count = 0; count < REFERENCES_MAX; count++) {
    const reference = schema?.$ref;
    if (typeof reference !== 'string') return schema;
    schema = roots.map((root) => fieldsOf(pointed(root, reference))).find((found) => found !== undefined);
  }
  return undefined;
}

/** A JSON Pointer behind `#`. */
function pointed(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#/')) return reference === '#' ? root : undefined;
  let value = root;
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    const fields = fieldsOf(value);
    if (fields === undefined || !Object.hasOwn(fields, name)) return undefined;
    value = fields[name];
  }
  return value;
}

function typeOf(schema: Fields): string {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(
    (type) => typeof type === 'string',
  );
  if (types.length > 0) return types.slice(0, VALUES_SHOWN).join(schemaText.or).slice(0, VALUE_LENGTH_MAX);
  if ('enum' in schema || 'const' in schema) return schemaText.value;
  if ('properties' in schema) return 'object';
  return 'items' in schema ? 'array' : schemaText.anything;
}

interface Group {
  readonly size: number;
  readonly list: () => readonly SchemaChild[];
}

function childrenOf(schema: Fields): readonly Group[] {
  const required = new Set(listOf(schema.required));
  const named = (members: unknown, nameOf: (name: string) => string, isField: boolean): Group[] => {
    const fields = fieldsOf(members);
    if (fields === undefined) return [];
    const list = () =>
      Object.entries(fields).map(([name, each]) => ({
        name: nameOf(name),
        isField,
        isRequired: isField && required.has(name),
        schema: each,
      }));
    return [{ size: Object.keys(fields).length, list }];
  };
  return [
    ...named(schema.properties, (name) => name, true),
    ...named(schema.patternProperties, schemaText.fieldsLike, false),
    ...single(schema.additionalProperties, schemaText.otherFields),
    ...single(schema.propertyNames, schemaText.fieldNames),
    ...(Array.isArray(schema.items)
      ? several(schema.items, schemaText.entry)
      : single(schema.items, schemaText.entries)),
    ...several(schema.prefixItems, schemaText.entry),
    ...single(schema.additionalItems, schemaText.otherEntries),
    ...single(schema.contains, schemaText.contains),
    ...several(schema.allOf, schemaText.allOf),
    ...several(schema.anyOf, schemaText.anyOf),
    ...several(schema.oneOf, schemaText.oneOf),
    ...single(schema.not, schemaText.not),
    ...single(schema.if, schemaText.if),
    ...single(schema.then, schemaText.ifSo),
    ...single(schema.else, schemaText.ifNot),
  ];
}

function single(schema: unknown, name: string): Group[] {
  if (fieldsOf(schema) === undefined) return [];
  return [{ size: 1, list: () => [{ name, isField: false, isRequired: false, schema }] }];
}

function several(schemas: unknown, nameOf: (number: number) => string): Group[] {
  const given = listOf(schemas);
  if (given.length === 0) return [];
  const list = () =>
    given.map((schema, index) => ({ name: nameOf(index + 1), isField: false, isRequired: false, schema }));
  return [{ size: given.length, list }];
}

function constraintsOf(schema: Fields): readonly string[] {
  const found: string[] = [];
  if ('const' in schema) found.push(schemaText.always(shownValue(schema.const)));
  const values = listOf(schema.enum);
  if (values.length > 0) {
    const shown = values.slice(0, VALUES_SHOWN).map(shownValue);
    found.push(schemaText.oneOfValues(shown.join(', '), Math.max(values.length - VALUES_SHOWN, 0)));
  }
  for (const [name, say] of NUMBERS) {
    const number = numberOf(schema[name]);
    if (number !== undefined) found.push(say(String(number)));
  }
  for (const [name, say] of TEXTS) {
    const text = textOf(schema[name], VALUE_LENGTH_MAX);
    if (text !== undefined) found.push(say(text));
  }
  if (schema.uniqueItems === true) found.push(schemaText.unique);
  if (schema.additionalProperties === false) found.push(schemaText.noOtherFields);
  if ('default' in schema) found.push(schemaText.default(shownValue(schema.default)));
  return found;
}

const NUMBERS = [
  ['minimum', schemaText.minimum],
  ['exclusiveMinimum', schemaText.exclusiveMinimum],
  ['maximum', schemaText.maximum],
  ['exclusiveMaximum', schemaText.exclusiveMaximum],
  ['multipleOf', schemaText.multipleOf],
  ['minLength', schemaText.minLength],
  ['maxLength', schemaText.maxLength],
  ['minItems', schemaText.minItems],
  ['maxItems', schemaText.maxItems],
  ['minProperties', schemaText.minProperties],
  ['maxProperties', schemaText.maxProperties],
] as const;

const TEXTS = [
  ['pattern', schemaText.pattern],
  ['format', schemaText.format],
  ['contentEncoding', schemaText.encoding],
  ['contentMediaType', schemaText.mediaType],
] as const;

function shownValue(value: unknown): string {
  const json = jsonOf(value) ?? '…';
  return json.length <= VALUE_LENGTH_MAX ? json : `${json.slice(0, VALUE_LENGTH_MAX)}…`;
}
