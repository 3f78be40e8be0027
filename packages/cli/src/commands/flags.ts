/** One flag of a command. */
export interface Flag {
  readonly help: string;
  /** The placeholder of the value in the help; a flag without one is on or off. */
  readonly value?: string;
  readonly short?: string;
  /** Shown in the help; the code that reads the flag applies it. */
  readonly default?: string | number;
  /** The flag may be given more than once. */
  readonly multiple?: boolean;
  /** An empty value means something. */
  readonly mayBeEmpty?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Flags of another program, and what stands for them: a flag as `--count` or `--file=-`, or a sentence. */
export type Spellings = Readonly<Record<string, string>>;

/** The command does not accept this command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Parsed = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/** The flags that were given. */
export class Values {
  readonly #values: Parsed;
  readonly positionals: readonly string[];

  constructor(values: Parsed, positionals: readonly string[]) {
    this.#values = values;
    this.positionals = positionals;
  }

  isSet(name: string): boolean {
    return this.#values[name] !== undefined && this.#values[name] !== false;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  all(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.map(String) : [];
  }

  /** @throws {UsageError} */
  refusePositionals(command: string): void {
    const [first] = this.positionals;
    if (first !== undefined) throw new UsageError(`\`apus ${command}\` takes only flags, not "${first}".`);
  }

  /** @throws {UsageError} for a flag that would be left out in silence; `why` follows its name */
  refuse(flags: Flags, why: string): void {
    const given = Object.keys(flags).find((name) => this.isSet(name));
    if (given !== undefined) throw new UsageError(`--${given} ${why}`);
  }

  /** A whole number from 0 up, or from `minimum`. */
  count(name: string, maximum = Number.MAX_SAFE_INTEGER, minimum = 0): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (/^\d+$/.test(text) && number >= minimum && number <= maximum) return number;
    const range =
      maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum} up` : `from ${minimum} to ${maximum}`;
    throw new UsageError(`--${name} takes a whole number ${range}, not "${text}".`);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`--${name} is one of ${choices.join(', ')}, not "${text}".`);
  }
}

/** @throws {UsageError} if a flag is unknown, repeated or empty, or lacks its value */
export function parseFlags(flags: Flags, args: readonly string[], spellings: Spellings = {}): Values {
  return new Parser(flags, args, spellings).parse();
}

const LONG = /^(--[^=]+)(?:=(.*))?$/s;
/** `-nVALUE`, `-n=VALUE`, or flags without values in one word. */
const SHORT = /^(-[^-])(?:=(.*)|(.+))?$/s;

class Parser {
  readonly #flags: Flags;
  readonly #spellings: ReadonlyMap<string, string>;
  /** The names of the flags by what is typed for them. */
  readonly #names = new Map<string, string>();
  readonly #words: string[];
  readonly #given = new Map<string, string | true | string[]>();

  constructor(flags: Flags, args: readonly string[], spellings: Spellings) {
    this.#flags = flags;
    this.#words = [...args];
    this.#spellings = new Map(Object.entries(spellings));
    for (const [name, { short }] of Object.entries(flags)) {
      this.#names.set(`--${name}`, name);
      if (short !== undefined) this.#names.set(`-${short}`, name);
    }
  }

  parse(): Values {
    const positionals: string[] = [];
    for (let word = this.#words.shift(); word !== undefined; word = this.#words.shift()) {
      const [, long, longValue] = LONG.exec(word) ?? [];
      const [, short, value, rest] = SHORT.exec(word) ?? [];
      if (word === '--') positionals.push(...this.#words.splice(0));
      else if (long !== undefined) this.#take(long, longValue);
      else if (short !== undefined) this.#take(short, value, rest);
      else positionals.push(word);
    }
    return new Values(Object.fromEntries(this.#given), positionals);
  }

  /** `rest` is a value, or more flags. */
  #take(typed: string, value: string | undefined, rest?: string): void {
    const spelled = this.#spellings.get(typed) ?? typed;
    const [, known = '', preset] = LONG.exec(spelled) ?? [undefined, spelled];
    const name = this.#names.get(known);
    if (name === undefined)
      throw new UsageError(spelled === typed ? `There is no flag '${typed}'.` : `${typed}: ${spelled}`);
    const isValued = preset === undefined && this.#flags[name]?.value !== undefined;
    if (!isValued && value !== undefined) throw new UsageError(`${typed} takes no value, not "${value}".`);
    if (!isValued && rest !== undefined) this.#words.unshift(`-${rest}`);
    this.#add(name, isValued ? (value ?? rest ?? this.#next(typed, name)) : (preset ?? true));
  }

  /** The value of a flag in a word of its own. */
  #next(typed: string, name: string): string {
    const lack = `${typed} lacks its ${this.#flags[name]?.value}`;
    const next = this.#words.shift();
    if (next === undefined) throw new UsageError(`${lack}.`);
    if (!/^--[a-z]/i.test(next) && !this.#names.has(next) && !this.#spellings.has(next)) return next;
    throw new UsageError(`${lack}: "${next}" is read as a flag. As a value it is --${name}=${next}.`);
  }

  #add(name: string, value: string | true): void {
    const flag = this.#flags[name];
    const before = this.#given.get(name);
    if (value === '' && flag?.mayBeEmpty !== true) throw new UsageError(`--${name} has an empty value.`);
    if (before !== undefined && flag?.multiple !== true)
      throw new UsageError(`--${name} is given more than once.`);
    this.#given.set(
      name,
      flag?.multiple === true ? ([before ?? [], String(value)].flat() as string[]) : value,
    );
  }
}
