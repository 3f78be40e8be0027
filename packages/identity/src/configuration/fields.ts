import { parseQuotas, type Quotas } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import { isTenant } from '../tenant.ts';

/** Texts in one list of the configuration. */
const LIST_LENGTH_MAX = 100;

/** Characters of one text; a key in PEM has the most. */
const TEXT_LENGTH_MAX = 16_384;

/** Reads the fields of an object in the configuration, and refuses unknown ones: a typo must not become a default. */
export class Fields {
  readonly where: string;
  readonly #values: Readonly<Record<string, unknown>>;

  /** @throws {ConfigurationError} when the value is no object, or has another field than these. */
  constructor(value: unknown, where: string, known: readonly string[]) {
    this.where = where;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new ConfigurationError(`${where} has to be an object with ${known.join(', ')}.`);
    }
    this.#values = value as Readonly<Record<string, unknown>>;
    const unknown = Object.keys(value).find((name) => !known.includes(name));
    if (unknown !== undefined) {
      throw new ConfigurationError(`${where} has no field "${unknown}". There are ${known.join(', ')}.`);
    }
  }

  fail(name: string, sentence: string): never {
    throw new ConfigurationError(`${this.where}.${name} ${sentence}`);
  }

  raw(name: string): unknown {
    return this.#values[name];
  }

  /** The fields of these that are present. */
  given(...names: readonly string[]): readonly string[] {
    return names.filter((name) => this.#values[name] !== undefined);
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX) return value;
    return this.fail(name, `has to be a text of 1 to ${TEXT_LENGTH_MAX} characters.`);
  }

  requiredText(name: string, why: string): string {
    return this.text(name) ?? this.fail(name, `is missing: ${why}`);
  }

  flag(name: string): boolean | undefined {
    const value = this.#values[name];
    if (value === undefined || typeof value === 'boolean') return value;
    return this.fail(name, 'has to be true or false.');
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    const choice = choices.find((each) => each === value);
    return choice ?? this.fail(name, `has to be one of ${choices.map((each) => `"${each}"`).join(', ')}.`);
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.#values[name];
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.length <= LIST_LENGTH_MAX) return value;
    return this.fail(name, `has to be a list of at most ${LIST_LENGTH_MAX}.`);
  }

  /** A text, or a list of them with at least one. */
  texts(name: string): readonly string[] | undefined {
    const value = this.#values[name];
    if (typeof value === 'string') return [this.text(name) ?? ''];
    const list = this.list(name);
    if (list === undefined) return undefined;
    if (list.length > 0 && list.every(isText)) return list;
    return this.fail(name, 'has to be a text, or a list of texts with at least one.');
  }

  /** The quotas of each identity from here; others keep the broker's. */
  quotas(): Partial<Quotas> | undefined {
    const value = this.#values.quotas;
    if (value === undefined) return undefined;
    const quotas = parseQuotas(value);
    return typeof quotas === 'string' ? this.fail('quotas', `cannot be kept: ${quotas}`) : quotas;
  }

  tenant(): string | undefined {
    const value = this.#values.tenant;
    if (value === undefined || isTenant(value)) return value;
    return this.fail('tenant', 'has to have up to 64 letters, digits, ".", "_" and "-".');
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_LENGTH_MAX;
}
