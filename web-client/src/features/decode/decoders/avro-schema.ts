/** Avro schemas in the form that the reader needs: names resolved, without defaults and documentation. */
export type AvroType =
  | { readonly kind: 'null' | 'boolean' | 'float' | 'double' | 'bytes' | 'string' }
  | { readonly kind: 'int' | 'long'; readonly logical: string }
  | { readonly kind: 'decimal'; readonly scale: number; readonly size: number | undefined }
  | { readonly kind: 'fixed'; readonly size: number }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array' | 'map'; readonly items: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | { readonly kind: 'record'; readonly name: string; readonly fields: AvroField[] };

export interface AvroField {
  readonly name: string;
  readonly type: AvroType;
}

const PRIMITIVES = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string']);

interface Surroundings {
  readonly namespace: string;
  /** By full name. A record is added before its fields are read, so that it may contain itself. */
  readonly named: Map<string, AvroType>;
}

/** @throws Error that names the problem */
export function parseAvroSchema(text: string): AvroType {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new Error(`an Avro schema is JSON (.avsc): ${(error as Error).message}`);
  }
  return typeOf(json, { namespace: '', named: new Map() });
}

function typeOf(schema: unknown, around: Surroundings): AvroType {
  if (typeof schema === 'string') return typeOfName(schema, around);
  if (Array.isArray(schema)) return { kind: 'union', branches: schema.map((each) => typeOf(each, around)) };
  if (typeof schema !== 'object' || schema === null) throw new Error(`${String(schema)} is no Avro type`);
  const members = schema as Readonly<Record<string, unknown>>;
  const { type, logicalType } = members;
  if (type === 'record' || type === 'error') return recordOf(members, around);
  if (type === 'enum') return named({ kind: 'enum', symbols: members.symbols as string[] }, members, around);
  if (type === 'fixed') return fixedOf(members, around);
  if (type === 'array') return { kind: 'array', items: typeOf(members.items, around) };
  if (type === 'map') return { kind: 'map', items: typeOf(members.values, around) };
  if ((type === 'int' || type === 'long') && typeof logicalType === 'string')
    return { kind: type, logical: logicalType };
  if (type === 'bytes' && logicalType === 'decimal')
    return { kind: 'decimal', scale: Number(members.scale ?? 0), size: undefined };
  return typeOf(type, around);
}

function typeOfName(name: string, { namespace, named: known }: Surroundings): AvroType {
  if (name === 'int' || name === 'long') return { kind: name, logical: '' };
  if (PRIMITIVES.has(name)) return { kind: name as 'string' };
  const found = known.get(fullName(name, namespace)) ?? known.get(name);
  if (found === undefined) throw new Error(`the type ${name} is not defined`);
  return found;
}

function fullName(name: string, namespace: string): string {
  return name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;
}

function nameOf(members: Readonly<Record<string, unknown>>, namespace: string): string {
  if (typeof members.name !== 'string') throw new Error('a record, enum or fixed has no name');
  return fullName(members.name, typeof members.namespace === 'string' ? members.namespace : namespace);
}

function named<T extends AvroType>(
  type: T,
  members: Readonly<Record<string, unknown>>,
  around: Surroundings,
): T {
  around.named.set(nameOf(members, around.namespace), type);
  return type;
}

function fixedOf(members: Readonly<Record<string, unknown>>, around: Surroundings): AvroType {
  const size = Number(members.size);
  if (!Number.isInteger(size) || size < 0) throw new Error(`a fixed has the size ${String(members.size)}`);
  const isDecimal = members.logicalType === 'decimal';
  const scale = Number(members.scale ?? 0);
  return named(isDecimal ? { kind: 'decimal', scale, size } : { kind: 'fixed', size }, members, around);
}

function recordOf(members: Readonly<Record<string, unknown>>, around: Surroundings): AvroType {
  const name = nameOf(members, around.namespace);
  if (!Array.isArray(members.fields)) throw new Error(`the record ${name} has no fields`);
  const record: AvroType = { kind: 'record', name, fields: [] };
  around.named.set(name, record);
  const namespace = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '';
  for (const field of members.fields as readonly { readonly name: string; readonly type: unknown }[]) {
    record.fields.push({ name: field.name, type: typeOf(field.type, { ...around, namespace }) });
  }
  return record;
}
