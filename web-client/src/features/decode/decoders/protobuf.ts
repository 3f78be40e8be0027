import protobuf from 'protobufjs';
import { DEPTH_MAX } from '../limits.ts';
import { toDecodedValue, ValueCount } from '../value.ts';
import type { PayloadDecoder, SchemaFile } from './rules.ts';

type MessageType = InstanceType<typeof protobuf.Type>;
type MessageField = InstanceType<typeof protobuf.Field>;
/** A field, or the values of a map. */
type ValueField = Pick<MessageField, 'id' | 'name' | 'type' | 'resolvedType'>;
type WireReader = InstanceType<typeof protobuf.Reader> & { readonly values: ValueCount };

/** Wire types (the specification's "Encoding"). */
const LENGTH_DELIMITED = 2;
const START_GROUP = 3;
const END_GROUP = 4;

const TIMESTAMP = '.google.protobuf.Timestamp';

/** A schema that has been read. */
export interface ProtobufSchema {
  readonly root: InstanceType<typeof protobuf.Root>;
  /** The full names of its messages, in their order. */
  readonly messageTypes: readonly string[];
}

/**
 * Reads `.proto` files that may import one another, and Google's well-known types.
 * @throws Error that names the file and the problem
 */
export function readProtobufSchema(files: readonly SchemaFile[]): ProtobufSchema {
  const root = new protobuf.Root();
  const imports = new Set<string>();
  for (const { name, text } of files) {
    try {
      const parsed = protobuf.parse(text, root, { keepCase: true });
      for (const imported of [...(parsed.imports ?? []), ...(parsed.weakImports ?? [])])
        imports.add(imported);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`);
    }
  }
  for (const imported of imports) addWellKnown(root, imported);
  root.resolveAll();
  return { root, messageTypes: messageTypesOf(root) };
}

/** Google's own types come with the library. Others have to be among the files, which `resolveAll` checks. */
function addWellKnown(root: InstanceType<typeof protobuf.Root>, imported: string): void {
  const known = protobuf.common.get(imported);
  if (known?.nested !== undefined) root.addJSON(known.nested);
}

function messageTypesOf(namespace: InstanceType<typeof protobuf.NamespaceBase>): string[] {
  return namespace.nestedArray.flatMap((nested) => {
    if (nested.fullName === '.google') return [];
    const own = nested instanceof protobuf.Type ? [nested.fullName.slice(1)] : [];
    return nested instanceof protobuf.Namespace ? [...own, ...messageTypesOf(nested)] : own;
  });
}

/**
 * Reads messages by the schema, field by field. The library's own readers are generated from source text at run time,
 * which the page's Content Security Policy forbids.
 * @throws Error that names the problem in the schema
 */
export function protobufDecoder(files: readonly SchemaFile[], messageType: string): PayloadDecoder {
  const { root } = readProtobufSchema(files);
  const type = root.lookupType(messageType);
  return (payload) => {
    const reader = Object.assign(protobuf.Reader.create(payload), { values: new ValueCount() });
    return toDecodedValue(readMessage(reader, type, reader.len, 0));
  };
}

function readMessage(reader: WireReader, type: MessageType, end: number, depth: number): unknown {
  if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} levels`);
  const message = new Map<string, unknown>();
  while (reader.pos < end) {
    reader.values.add();
    const tag = reader.uint32();
    const [id, wireType] = [tag >>> 3, tag & 7];
    if (id === 0) throw new Error('a field has the number 0');
    const field = type.fieldsById[id];
    if (field === undefined) {
      if (wireType === START_GROUP || wireType === END_GROUP) throw new Error(`field ${id} is a group`);
      reader.skipType(wireType);
      message.set(`unknown field ${id}`, null);
    } else {
      readField(reader, field, wireType, message, depth);
    }
  }
  if (reader.pos !== end) throw new RangeError('a message ends within a field');
  return type.fullName === TIMESTAMP ? dateOf(message) : message;
}

function readField(
  reader: WireReader,
  field: MessageField,
  wireType: number,
  message: Map<string, unknown>,
  depth: number,
): void {
  const { name } = field;
  if (field instanceof protobuf.MapField) {
    if (wireType !== LENGTH_DELIMITED) throw new Error(`${name} (field ${field.id}) is no map there`);
    const entries = listOf(message, name, () => new Map<unknown, unknown>());
    const [key, value] = readEntry(reader, field, depth);
    entries.set(key, value);
  } else if (!field.repeated) {
    message.set(name, readValue(reader, field, wireType, depth));
  } else if (wireType === LENGTH_DELIMITED && isPackable(field)) {
    const values = listOf(message, name, () => [] as unknown[]);
    const end = endOfLength(reader);
    while (reader.pos < end) {
      reader.values.add();
      values.push(readValue(reader, field, wireTypeOf(field), depth));
    }
  } else {
    listOf(message, name, () => [] as unknown[]).push(readValue(reader, field, wireType, depth));
  }
}

function listOf<T>(message: Map<string, unknown>, name: string, make: () => T): T {
  const known = message.get(name) as T | undefined;
  if (known !== undefined) return known;
  const made = make();
  message.set(name, made);
  return made;
}

/** An entry of a map is a message with the fields 1 and 2, either of which may be omitted if it has its default. */
function readEntry(
  reader: WireReader,
  field: InstanceType<typeof protobuf.MapField>,
  depth: number,
): [unknown, unknown] {
  const end = endOfLength(reader);
  let key: unknown = '';
  let value: unknown = null;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) key = readScalar(reader, field.keyType);
    else if (tag >>> 3 === 2) value = readValue(reader, field, tag & 7, depth);
    else reader.skipType(tag & 7);
  }
  return [String(toDecodedValue(key)), value];
}

function readValue(reader: WireReader, field: ValueField, wireType: number, depth: number): unknown {
  const { resolvedType } = field;
  const expected = wireTypeOf(field);
  if (wireType !== expected)
    throw new Error(`${field.name} (field ${field.id}) has wire type ${wireType} and not ${expected}`);
  if (resolvedType instanceof protobuf.Type)
    return readMessage(reader, resolvedType, endOfLength(reader), depth + 1);
  if (resolvedType instanceof protobuf.Enum) {
    const number = reader.int32();
    return resolvedType.valuesById[number] ?? number;
  }
  return readScalar(reader, field.type);
}

function readScalar(reader: WireReader, type: string): unknown {
  const read = (reader as unknown as Record<string, (() => unknown) | undefined>)[type];
  if (read === undefined || protobuf.types.basic[type as 'int32'] === undefined)
    throw new Error(`${type} is no type of Protobuf`);
  const value = read.call(reader);
  // 64-bit numbers in the form of the library `long`.
  return typeof value === 'object' && value !== null && 'low' in value ? BigInt(String(value)) : value;
}

function endOfLength(reader: WireReader): number {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError('a field is longer than the payload');
  return end;
}

function isPackable({ resolvedType, type }: ValueField): boolean {
  return resolvedType instanceof protobuf.Enum || (resolvedType === null && type in protobuf.types.packed);
}

function wireTypeOf({ resolvedType, type }: ValueField): number {
  if (resolvedType instanceof protobuf.Enum) return 0;
  if (resolvedType instanceof protobuf.Type) return LENGTH_DELIMITED;
  return protobuf.types.basic[type as 'int32'];
}

function dateOf(message: ReadonlyMap<string, unknown>): Date {
  const seconds = Number(message.get('seconds') ?? 0);
  return new Date(seconds * 1_000 + Number(message.get('nanos') ?? 0) / 1_000_000);
}
