import { STRING_BYTES_MAX } from '@apus/mqtt';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Reads the fields of a JSON object, and keeps a sentence on the first error. */
export class Fields {
  readonly #where: string;
  readonly #values: Readonly<Record<string, unknown>>;
  problem: string | undefined;

  /** `where` is how a sentence names the object: empty, or with its dot at the end. */
  constructor(values: Readonly<Record<string, unknown>>, where: string, known: readonly string[]) {
    this.#values = values;
    this.#where = where;
    const unknown = Object.keys(values).find((name) => !known.includes(name));
    if (unknown !== undefined)
      this.fail(unknown, `is not known here; there are ${known.slice(0, -1).join(', ')} and ${known.at(-1)}`);
  }

  fail(name: string, what: string): undefined {
    this.problem ??= `${JSON.stringify(`${this.#where}${name}`)} ${what}.`;
    return undefined;
  }

  raw(name: string): unknown {
    return this.#values[name] ?? undefined;
  }

  /** A string that is well-formed Unicode: UTF-8 cannot carry half of a surrogate pair. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') return this.fail(name, `is a string, not ${shown(value)}`);
    if (LONE_SURROGATE.test(value)) return this.fail(name, 'has half of a surrogate pair in it');
    return value;
  }

  /** A UTF-8 string of MQTT (section 1.5.4). */
  mqttText(name: string): string | undefined {
    const value = this.text(name);
    const wrong = value === undefined ? undefined : mqttTextProblem(value);
    return wrong === undefined ? value : this.fail(name, wrong);
  }

  wholeNumber(name: string, most: number): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most) return Number(value);
    return this.fail(name, `is a whole number from 0 to ${most}, not ${shown(value)}`);
  }

  flag(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.fail(name, `is true or false, not ${shown(value)}`);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const choice = choices.find((each) => each === value);
    return choice ?? this.fail(name, `is ${choices.join(' or ')}, not ${shown(value)}`);
  }
}

/** The reason why MQTT forbids a well-formed string [MQTT-1.5.4-2], or undefined. */
export function mqttTextProblem(value: string): string | undefined {
  if (value.includes('\0')) return 'has no U+0000';
  return Buffer.byteLength(value) > STRING_BYTES_MAX ? `has at most ${STRING_BYTES_MAX} bytes` : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value as it stands in a sentence: short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 37)}…` : text;
}

/** Base64 as RFC 4648 has it, with its padding; undefined when it is not. */
export function fromBase64(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : undefined;
}
