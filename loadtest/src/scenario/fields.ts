/** A scenario that cannot be run; the message names the wrong field and its allowed values. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError';
}

/** The fields of a JSON object, each read once and checked. */
export class Fields {
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #path: string;
  readonly #read = new Set<string>();

  constructor(json: unknown, path: string) {
    this.#path = path;
    if (typeof json !== 'object' || json === null || Array.isArray(json)) {
      throw new ScenarioError(`${path} should be an object`);
    }
    this.#values = { ...json };
  }

  fail(name: string, sentence: string): never {
    throw new ScenarioError(`${this.#path}, "${name}": ${sentence}`);
  }

  given(name: string): unknown {
    this.#read.add(name);
    return this.#values[name] ?? undefined;
  }

  text(name: string, preset?: string): string {
    const value = this.given(name) ?? preset;
    if (typeof value === 'string' && (value !== '' || preset === '')) return value;
    return this.fail(name, `should be text, not ${JSON.stringify(value)}`);
  }

  optionalText(name: string): string | undefined {
    return this.given(name) === undefined ? undefined : this.text(name);
  }

  texts(name: string, most: number): readonly string[] {
    const value = this.list(name);
    const isFit = value.length > 0 && value.length <= most && value.every((each) => typeof each === 'string');
    if (isFit) return value as readonly string[];
    return this.fail(name, `should be a list of 1 to ${most.toLocaleString('en')} texts`);
  }

  flag(name: string, preset: boolean): boolean {
    const value = this.given(name) ?? preset;
    if (typeof value === 'boolean') return value;
    return this.fail(name, `should be true or false, not ${JSON.stringify(value)}`);
  }

  list(name: string): readonly unknown[] {
    const value = this.given(name);
    return Array.isArray(value) ? value : this.fail(name, 'should be a list');
  }

  number(name: string, least: number, most: number, preset?: number): number {
    const value = this.given(name) ?? preset;
    if (typeof value === 'number' && value >= least && value <= most) return value;
    const range = `from ${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
    return this.fail(name, `should be a number ${range}, not ${JSON.stringify(value)}`);
  }

  optionalNumber(name: string, least: number, most: number): number | undefined {
    return this.given(name) === undefined ? undefined : this.number(name, least, most);
  }

  whole(name: string, least: number, most: number, preset?: number): number {
    const value = this.number(name, least, most, preset);
    return Number.isInteger(value) ? value : this.fail(name, `should be a whole number, not ${value}`);
  }

  oneOf<T extends string | number>(name: string, choices: readonly T[], preset: T): T {
    const value = this.given(name) ?? preset;
    const choice = choices.find((each) => each === value);
    return choice ?? this.fail(name, `is one of ${choices.join(', ')}, not ${JSON.stringify(value)}`);
  }

  /** Refuses fields that were not read: a misspelled field would otherwise silently get its default. */
  nothingElse(): void {
    const unknown = Object.keys(this.#values).find((name) => !this.#read.has(name));
    if (unknown !== undefined)
      throw new ScenarioError(
        `${this.#path} has no field "${unknown}"; it has ${[...this.#read].join(', ')}`,
      );
  }
}
