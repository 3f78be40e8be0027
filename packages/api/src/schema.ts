type Keywords = Readonly<Record<string, unknown>>;

/** A schema of JSON Schema 2020-12, which OpenAPI 3.1 uses, for values of the type `T`. */
export type Schema<T = unknown> = Keywords & { readonly 'x-value'?: T };

/** The values that a schema describes. */
export type ValueOf<S extends Schema> = S extends Schema<infer T> ? T : never;

type Fields = Readonly<Record<string, Schema>>;

type ObjectOf<F extends Fields> = {
  readonly [Name in keyof F as Name extends `${string}?` ? never : Name]: ValueOf<F[Name]>;
} & { readonly [Name in keyof F as Name extends `${infer Optional}?` ? Optional : never]?: ValueOf<F[Name]> };

/** A reference to a schema of `SCHEMAS` (`schemas/index.ts`). */
export function ref<T = unknown>(name: string): Schema<T> {
  return { $ref: `#/components/schemas/${name}` };
}

export function text(description?: string, more: Keywords = {}): Schema<string> {
  return { type: 'string', ...described(description), ...more };
}

export function oneOf<const T extends string | number>(
  values: readonly T[],
  description?: string,
): Schema<T> {
  return { type: typeof values[0], enum: values, ...described(description) };
}

/** A whole number from 0 up, unless `more` says otherwise. */
export function count(description?: string, more: Keywords = {}): Schema<number> {
  return { type: 'integer', minimum: 0, ...described(description), ...more };
}

export function flag(description?: string): Schema<boolean> {
  return { type: 'boolean', ...described(description) };
}

/** RFC 3339, in UTC. */
export function time(description?: string): Schema<string> {
  return text(description, { format: 'date-time' });
}

export function base64(description?: string): Schema<string> {
  return text(description, { contentEncoding: 'base64' });
}

export const QOS = oneOf([0, 1, 2], 'Quality of service.');

export function list<T>(items: Schema<T>, description?: string, more: Keywords = {}): Schema<readonly T[]> {
  return { type: 'array', items, ...described(description), ...more };
}

/** `schema` has a type of its own and is no `ref`. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  const { enum: values, ...others } = schema as {
    readonly enum?: readonly unknown[];
    readonly type: string | readonly string[];
  };
  const types = new Set([others.type, 'null'].flat());
  return { ...others, type: [...types], ...(values !== undefined && { enum: [...values, null] }) };
}

/** An object with these fields; a name with `?` at its end is optional. A new version may add fields to an answer. */
export function object<F extends Fields>(fields: F, description?: string): Schema<ObjectOf<F>> {
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
export function closedObject<F extends Fields>(fields: F, description?: string): Schema<ObjectOf<F>> {
  return { ...object(fields, description), additionalProperties: false };
}

/** Metrics by name, each with its meaning. */
export function figures<Name extends string>(
  names: Readonly<Record<Name, string>>,
): Readonly<Record<Name, Schema<number>>> {
  const all = Object.entries<string>(names).map(([name, says]) => [name, count(says)]);
  return Object.fromEntries(all) as Record<Name, Schema<number>>;
}

function described(description: string | undefined): Keywords {
  return description === undefined ? {} : { description };
}
