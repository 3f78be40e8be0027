import { fieldsOf, listOf, numberOf } from '../document/fields.ts';
import type { PortalTopic } from '../document/portal-document.ts';
import { jsonOf } from '../document/read-document.ts';
import { EXAMPLE_LENGTH_MAX } from '../limits.ts';

/** Levels of a generated sample. */
const DEPTH_MAX = 5;

/** Fields of one object in it. */
const FIELDS_MAX = 50;

/** Values in all of it. */
const VALUES_MAX = 500;

export function isJson(contentType: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType);
}

/** The first example as it is sent, or one that the schema suggests. Undefined: the payload is not JSON, and nothing is known of it. */
export function samplePayload({ examples, schema, contentType }: PortalTopic): string | undefined {
  const [first] = examples;
  if (first !== undefined) return first.payload;
  if (!isJson(contentType)) return /^text\//i.test(contentType) ? 'Hello' : undefined;
  const payload = jsonOf(new Sampler().sample(schema, 0));
  return payload === undefined || payload.length > EXAMPLE_LENGTH_MAX ? '{}' : payload;
}

/** Generates a value with the required fields of a schema. It is a start, and need not be valid. */
class Sampler {
  #values = 0;

  sample(given: unknown, depth: number): unknown {
    this.#values += 1;
    const schema = fieldsOf(given);
    if (schema === undefined || depth > DEPTH_MAX || this.#values > VALUES_MAX) return {};
    if ('const' in schema) return schema.const;
    if ('default' in schema) return schema.default;
    const [value = listOf(schema.examples)[0]] = listOf(schema.enum);
    if (value !== undefined) return value;
    const [type = schema.type] = listOf(schema.type);
    if (type === 'number' || type === 'integer') return Math.ceil(numberOf(schema.minimum) ?? 0);
    if (type === 'string') return '…';
    if (type === 'boolean') return true;
    if (type === 'null') return null;
    if (type === 'array') return [];
    return this.#object(fieldsOf(schema.properties) ?? {}, listOf(schema.required), depth);
  }

  #object(
    properties: Readonly<Record<string, unknown>>,
    required: readonly unknown[],
    depth: number,
  ): object {
    const names = required.filter((name) => typeof name === 'string').slice(0, FIELDS_MAX);
    return Object.fromEntries(
      names.map((name) => [
        name,
        this.sample(Object.hasOwn(properties, name) ? properties[name] : {}, depth + 1),
      ]),
    );
  }
}
