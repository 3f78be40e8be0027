import { StepError } from './step-error.ts';

/** Reads the fields of a step or of `config.engines.mqtt`, and refuses unknown ones. */
export class StepFields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #name: string;
  readonly #read = new Set<string>();

  constructor(name: string, value: unknown) {
    this.#name = name;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new StepError(`${name} takes an object with fields, not ${JSON.stringify(value)}`);
    this.#values = { ...value };
  }

  given(field: string): unknown {
    this.#read.add(field);
    return this.#values[field];
  }

  fail(field: string, sentence: string): never {
    throw new StepError(`${this.#name}: "${field}" ${sentence}, not ${JSON.stringify(this.#values[field])}`);
  }

  /** Text, which may hold `{{ variables }}`. */
  text(field: string): string | undefined {
    const value = this.given(field);
    if (value === undefined || typeof value === 'string') return value;
    return this.fail(field, 'is text');
  }

  needText(field: string): string {
    return this.text(field) ?? this.fail(field, 'is text and has to be given');
  }

  /** A number, or text that is one once `{{ variables }}` are filled in. */
  amount(field: string): number | string | undefined {
    const value = this.given(field);
    if (value === undefined || typeof value === 'number' || typeof value === 'string') return value;
    return this.fail(field, 'is a number');
  }

  number(field: string, least: number, most: number): number | undefined {
    const value = this.given(field);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    return this.fail(field, `is a number from ${least} to ${most}`);
  }

  flag(field: string): boolean | undefined {
    const value = this.given(field);
    if (value === undefined || typeof value === 'boolean') return value;
    return this.fail(field, 'is true or false');
  }

  oneOf<T extends string | number>(field: string, choices: readonly T[]): T | undefined {
    const value = this.given(field);
    if (value === undefined) return undefined;
    return choices.find((choice) => choice === value) ?? this.fail(field, `is one of ${choices.join(', ')}`);
  }

  texts(field: string): readonly string[] {
    const value = this.given(field);
    const list = Array.isArray(value) ? value : [value];
    if (list.length > 0 && list.every((each) => typeof each === 'string')) return list as readonly string[];
    return this.fail(field, 'is text or a list of texts');
  }

  list(field: string): readonly unknown[] {
    const value = this.given(field);
    return Array.isArray(value) ? value : this.fail(field, 'is a list');
  }

  nothingElse(): void {
    const unknown = Object.keys(this.#values).find((field) => !this.#read.has(field));
    if (unknown !== undefined)
      throw new StepError(`${this.#name} has no field "${unknown}"; it has ${[...this.#read].join(', ')}`);
  }
}
