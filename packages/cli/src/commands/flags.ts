import { type ParseArgsConfig, parseArgs } from 'node:util';

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
}

export type Flags = Readonly<Record<string, Flag>>;

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

/** @throws {UsageError} if a flag is unknown or lacks its value */
export function parseFlags(flags: Flags, args: readonly string[]): Values {
  const options: ParseArgsConfig['options'] = {};
  for (const [name, { value, short, multiple }] of Object.entries(flags)) {
    options[name] = {
      type: value === undefined ? 'boolean' : 'string',
      ...(short !== undefined && { short }),
      ...(multiple && { multiple }),
    };
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return new Values(values as Parsed, positionals);
  } catch (error) {
    throw new UsageError(sentenceOf(error));
  }
}

/** The rest of Node's message advises on `--`, which rarely helps. */
function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message.split(/\. |\n/, 1)[0]?.replace(/\.$/, '')}.`;
}
