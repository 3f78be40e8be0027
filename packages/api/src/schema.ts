/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export type Schema = Readonly<Record<string, unknown>>;

/** A reference to a schema of `SCHEMAS` (`schemas/index.ts`). */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function text(description?: string, more: Schema = {}): Schema {
  return { type: 'string', ...described(description), ...more };
}

export function oneOf(values: readonly (string | number)[], description?: string): Schema {
  return { type: typeof values[0], enum: values, ...described(description) };
}

/** A whole number from 0 up, unless `more` says otherwise. */
export function count(description?: string, more: Schema = {}): Schema {
  return { type: 'integer', minimum: 0, ...described(description), ...more };
}

export function flag(description?: string): Schema {
  return { type: 'boolean', ...described(description) };
}

/** RFC 3339, in UTC. */
export function time(description?: string): Schema {
  return text(description, { format: 'date-time' });
}

export function base64(description?: string): Schema {
  return text(description, { contentEncoding: 'base64' });
}

export const QOS = oneOf([0, 1, 2], 'Quality of service.');

export function list(items: Schema, description?: string, more: Schema = {}): Schema {
  return { type: 'array', items, ...described(description), ...more };
}

/** `schema` has a type of its own and is no `ref`. */
export function nullable(schema: Schema): Schema {
  const { enum: values, ...others } = schema as {
    readonly enum?: readonly unknown[];
    readonly type: string | readonly string[];
  };
  const types = new Set([others.type, 'null'].flat());
  return { ...others, type: [...types], ...(values !== undefined && { enum: [...values, null] }) };
}

/** An object with these fields; a name with `?` at its end is optional. A new version may add fields to an answer. */
export function object(fields: Readonly<Record<string, Schema>>, description?: string): Schema {
  const names = Object.keys(fields);
  const required = names.filter((name) => !name.endsWith('?'));
  const properties = Object.fromEntries(
    names.map((name) => [name.replace(/\?$/, ''), fields[name] as Schema]),
  );
  return {
    type: 'object',
    ...described(description),
    properties,
    ...(required.length > 0 && { required }),
  };
}

/** An object in a request: unknown fields are refused. */
export function closedObject(fields: Readonly<Record<string, Schema>>, description?: string): Schema {
  return { ...object(fields, description), additionalProperties: false };
}

/** Metrics by name, each with its meaning. */
export function figures(names: Readonly<Record<string, string>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(names).map(([name, says]) => [name, count(says)]));
}

function described(description: string | undefined): Schema {
  return description === undefined ? {} : { description };
}
