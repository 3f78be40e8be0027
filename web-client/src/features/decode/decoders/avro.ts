import { DEPTH_MAX } from '../limits.ts';
import { type DecodedValue, ExactNumber, toDecodedValue, ValueCount } from '../value.ts';
import { type AvroType, parseAvroSchema } from './avro-schema.ts';
import type { PayloadDecoder } from './rules.ts';

/** Bytes before the datum: the schema's number in a registry, or its fingerprint (single-object encoding). */
const REGISTRY_HEADER_BYTES = 5;
const SINGLE_OBJECT_HEADER_BYTES = 10;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads Avro's binary encoding (version 1.12 of its specification) by the writer's schema. The existing libraries
 * generate their readers from source text at run time, which the page's Content Security Policy forbids.
 * @throws Error that names the problem in the schema
 */
export function avroDecoder(schema: string): PayloadDecoder {
  const type = parseAvroSchema(schema);
  return (payload) => {
    const isSingleObject = payload[0] === 0xc3 && payload[1] === 1;
    if (isSingleObject) return readWhole(type, payload.subarray(SINGLE_OBJECT_HEADER_BYTES));
    try {
      return readWhole(type, payload);
    } catch (error) {
      if (payload[0] !== 0 || payload.length <= REGISTRY_HEADER_BYTES) throw error;
      return readWhole(type, payload.subarray(REGISTRY_HEADER_BYTES));
    }
  };
}

function readWhole(type: AvroType, bytes: Uint8Array): DecodedValue {
  const reader = new AvroReader(bytes);
  const value = reader.read(type, 0);
  if (reader.left > 0)
    throw new Error(`${reader.left} bytes are left over: it was written with another schema`);
  return toDecodedValue(value);
}

class AvroReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  /** An item may take no byte at all, so a few bytes can claim any number of them. */
  readonly #values = new ValueCount();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  read(type: AvroType, depth: number): unknown {
    if (depth > DEPTH_MAX) throw new RangeError(`nested deeper than ${DEPTH_MAX} levels`);
    switch (type.kind) {
      case 'null':
        return null;
      case 'boolean':
        return this.#take(1)[0] === 1;
      case 'int':
      case 'long':
        return logicalNumber(this.#long(), type.logical);
      case 'float':
        return this.#view.getFloat32(this.#skip(4), true);
      case 'double':
        return this.#view.getFloat64(this.#skip(8), true);
      case 'bytes':
        return this.#take(this.#length());
      case 'string':
        return utf8.decode(this.#take(this.#length()));
      case 'fixed':
        return this.#take(type.size);
      case 'decimal':
        return decimalOf(this.#take(type.size ?? this.#length()), type.scale);
      case 'enum':
        return choice(type.symbols, this.#length());
      case 'union':
        return this.read(choice(type.branches, this.#length()), depth + 1);
      case 'array': {
        const items: unknown[] = [];
        this.#blocks(() => items.push(this.read(type.items, depth + 1)));
        return items;
      }
      case 'map': {
        const entries = new Map<string, unknown>();
        this.#blocks(() => {
          const key = utf8.decode(this.#take(this.#length()));
          entries.set(key, this.read(type.items, depth + 1));
        });
        return entries;
      }
      case 'record': {
        const { fields } = type;
        return new Map(fields.map((field) => [field.name, this.read(field.type, depth + 1)]));
      }
    }
  }

  /** Blocks of items: after a negative count comes the block's size, and 0 ends them. */
  #blocks(item: () => void): void {
    for (;;) {
      let count = this.#long();
      if (count === 0n) return;
      if (count < 0n) {
        count = -count;
        this.#long();
      }
      this.#values.add(Number(count));
      for (let left = Number(count); left > 0; left -= 1) item();
    }
  }

  /** A length or an index, which is never negative. */
  #length(): number {
    const value = this.#long();
    if (value < 0n || value > BigInt(this.#bytes.length) + 65_536n)
      throw new RangeError(`${value} is no length in a payload of ${this.#bytes.length} bytes`);
    return Number(value);
  }

  /** Zigzag, seven bits a byte. */
  #long(): bigint {
    let bits = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#take(1)[0] ?? 0;
      bits |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asIntN(64, (bits >> 1n) ^ -(bits & 1n));
    }
    throw new RangeError('a number has more than ten bytes');
  }

  #take(length: number): Uint8Array {
    const from = this.#skip(length);
    return this.#bytes.subarray(from, from + length);
  }

  /** @returns where the bytes begin */
  #skip(length: number): number {
    if (length > this.left) throw new RangeError(`${length} bytes are wanted where ${this.left} are left`);
    this.#at += length;
    return this.#at - length;
  }
}

function choice<T>(of: readonly T[], index: number): T {
  const chosen = of[index];
  if (chosen === undefined) throw new RangeError(`there is no choice ${index} of ${of.length}`);
  return chosen;
}

const DAY_MS = 86_400_000;

function logicalNumber(value: bigint, logical: string): unknown {
  if (logical === 'timestamp-millis') return new Date(Number(value));
  if (logical === 'timestamp-micros') return new Date(Number(value) / 1_000);
  if (logical === 'timestamp-nanos') return new Date(Number(value) / 1_000_000);
  if (logical === 'date') return new Date(Number(value) * DAY_MS);
  return value;
}

/** Two's complement, the most significant byte first, with this many decimals. */
function decimalOf(bytes: Uint8Array, scale: number): ExactNumber {
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  const unscaled = BigInt.asIntN(bytes.length * 8, bits);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const fraction = scale === 0 ? '' : `.${digits.slice(-scale)}`;
  return new ExactNumber(`${unscaled < 0n ? '-' : ''}${whole}${fraction}`);
}
