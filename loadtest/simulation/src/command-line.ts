import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type FieldsOf, SimulationError } from './fields.ts';
import { DEFAULT_QUOTAS, QUOTA_KINDS, QUOTA_NAMES, type Quotas } from './quotas.ts';
import { TooLargeError } from './run-model.ts';

/** A simulation as a command: the first lines of `--help`, the fields of its workload, and its output. */
export interface Command<T> {
  readonly usage: string;
  readonly fields: FieldsOf<T>;
  /** Returns the text for people, or, where `isJson`, a value that is printed as JSON. */
  readonly simulate: (given: Given, quotas: Quotas, isJson: boolean) => unknown;
}

export type Given = Readonly<Record<string, unknown>>;

/** Reads the file and the flags, simulates, and prints. Returns the exit code. */
export function runCommand<T>(command: Command<T>, argv: readonly string[]): number {
  try {
    return run(command, argv);
  } catch (error) {
    if (!isOfTheCaller(error)) throw error;
    process.stderr.write(`${error.message}. \`npm run simulate -- --help\` explains.\n`);
    return 2;
  }
}

function run<T>({ usage, fields, simulate }: Command<T>, argv: readonly string[]): number {
  const names = Object.keys(fields);
  const options = optionsOf([...names, ...QUOTA_NAMES]);
  const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
  if (values.help === true) {
    say(`${usage}\n${helpOf(fields)}`);
    return 0;
  }
  if (positionals.length > 1) throw new SimulationError('One file at a time');
  const { quotas: givenQuotas, ...given } = fileOf(positionals[0]);
  const quotas = quotasOf({ ...givenQuotas, ...flagsOf(values, QUOTA_NAMES) });
  const isJson = values.json === true;
  const startedAt = performance.now();
  const found = simulate({ ...given, ...flagsOf(values, names) }, quotas, isJson);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  say(isJson ? `${JSON.stringify(found, null, 2)}\n` : `${found}\n\nSimulated in ${seconds} s.\n`);
  return 0;
}

function optionsOf(names: readonly string[]) {
  return {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
    ...Object.fromEntries(names.map((name) => [flagOf(name), { type: 'string' } as const])),
  } as const;
}

function fileOf(path: string | undefined): Given & { readonly quotas?: Given } {
  if (path === undefined) return {};
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new SimulationError(
      `The workload cannot be read: ${error instanceof Error ? error.message : error}`,
    );
  }
  try {
    return JSON.parse(text) as Given;
  } catch (error) {
    throw new SimulationError(`${path} is not JSON: ${(error as Error).message}`);
  }
}

function flagsOf(values: Given, names: readonly string[]): Record<string, number> {
  const given: Record<string, number> = {};
  for (const name of names) {
    const text = values[flagOf(name)];
    if (typeof text !== 'string') continue;
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number)) {
      throw new SimulationError(`--${flagOf(name)} takes a number, not "${text}"`);
    }
    given[name] = number;
  }
  return given;
}

function quotasOf(given: Given): Quotas {
  const quotas: Record<string, number> = { ...DEFAULT_QUOTAS };
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(QUOTA_KINDS, name)) {
      throw new SimulationError(`"${name}" is no quota. There are ${QUOTA_NAMES.join(', ')}`);
    }
    if (typeof value !== 'number' || !(value > 0)) {
      throw new SimulationError(`The quota "${name}" is a number above 0, not ${JSON.stringify(value)}`);
    }
    quotas[name] = value;
  }
  return quotas as unknown as Quotas;
}

/** `messagesPerSecond` is `--messages-per-second`. */
function flagOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function helpOf<T>(fields: FieldsOf<T>): string {
  const workload = (Object.keys(fields) as (keyof T & string)[]).map((name) => {
    const { help, preset } = fields[name];
    const fallback = preset === undefined ? '' : ` Default: ${preset}.`;
    return `  --${flagOf(name)} NUMBER  ${help}${fallback}`;
  });
  const quotas = QUOTA_NAMES.map((name) => {
    const { label, preset, source } = QUOTA_KINDS[name];
    return `  --${flagOf(name)} NUMBER  ${label} (${source}). Default: ${preset}.`;
  });
  return [
    'Workload:',
    ...workload,
    '',
    'Quotas:',
    ...quotas,
    '',
    '  --json  Prints what was found as JSON.',
    '',
  ].join('\n');
}

/** Errors that the user can correct, told in a sentence. */
function isOfTheCaller(error: unknown): error is Error {
  if (error instanceof SimulationError || error instanceof TooLargeError) return true;
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

function say(text: string): void {
  process.stdout.write(text);
}
