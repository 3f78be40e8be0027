import { PATTERN_LENGTH_MAX, SCHEMA_DEPTH_MAX, SCHEMA_PARTS_MAX, UNIQUE_ITEMS_MAX } from './limits.ts';

export type Schema = Readonly<Record<string, unknown>>;

/** A schema that cannot be used. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Keywords that are refused: with them a schema refers to others, or to itself, in ways that are not resolved here. */
const REFUSED = ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$recursiveRef', '$recursiveAnchor'];

/** Keywords whose values are no schemas. */
const DATA = new Set(['const', 'default', 'enum', 'examples']);

/**
 * The schema with each reference replaced by its target. A schema that refers to itself has no end, and one whose
 * references double at each level is far larger than its text: both exceed the limits of parts and depth.
 *
 * @throws {SchemaError}
 */
export function inlined(schema: unknown): Schema {
  if (!isObject(schema)) throw new SchemaError('a schema is an object');
  const { $defs: _, definitions: __, ...root } = new Inliner(schema).part(schema, 0) as Schema;
  return root;
}

class Inliner {
  readonly #root: Schema;
  #parts = 0;

  constructor(root: Schema) {
    this.#root = root;
  }

  part(value: unknown, depth: number): unknown {
    this.#parts += 1;
    if (this.#parts > SCHEMA_PARTS_MAX)
      throw new SchemaError(
        `with its references a schema has at most ${SCHEMA_PARTS_MAX} parts: it may not refer to itself`,
      );
    if (depth > SCHEMA_DEPTH_MAX)
      throw new SchemaError(
        `with its references a schema has at most ${SCHEMA_DEPTH_MAX} levels: it may not refer to itself`,
      );
    if (Array.isArray(value)) return value.map((each) => this.part(each, depth + 1));
    return isObject(value) ? this.#object(value, depth) : value;
  }

  #object(schema: Schema, depth: number): unknown {
    if (typeof schema.$ref === 'string') return this.part(this.#target(schema.$ref), depth + 1);
    checkKeywords(schema);
    const members = Object.entries(schema).filter(([name]) => depth > 0 || !isDefinitions(name));
    return Object.fromEntries(
      members.map(([name, value]) => [name, DATA.has(name) ? value : this.part(value, depth + 1)]),
    );
  }

  #target(reference: string): unknown {
    const [, members, name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
    const definitions = members === undefined ? undefined : this.#root[members];
    if (isObject(definitions) && Object.hasOwn(definitions, name)) return definitions[name];
    throw new SchemaError(`${JSON.stringify(reference)} refers to nothing under $defs or definitions`);
  }
}

function checkKeywords(schema: Schema): void {
  const refused = REFUSED.find((name) => typeof schema[name] === 'string');
  if (refused !== undefined) throw new SchemaError(`"${refused}" is not taken: refer to "#/$defs/NAME"`);
  const { pattern, uniqueItems, maxItems } = schema;
  if (typeof pattern === 'string' && pattern.length > PATTERN_LENGTH_MAX)
    throw new SchemaError(`a pattern has at most ${PATTERN_LENGTH_MAX} characters`);
  if (uniqueItems === true && !(typeof maxItems === 'number' && maxItems <= UNIQUE_ITEMS_MAX))
    throw new SchemaError(
      `"uniqueItems" compares each with each: give "maxItems", at most ${UNIQUE_ITEMS_MAX}`,
    );
}

function isDefinitions(name: string): boolean {
  return name === '$defs' || name === 'definitions';
}

export function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
