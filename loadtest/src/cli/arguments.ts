import { parseArgs } from 'node:util';
import { UsageError } from './cli-error.ts';

/** Every flag: its value in the help (none for a switch), and its effect. */
export const FLAGS = {
  target: {
    value: 'URL',
    help: 'The broker, as ws://127.0.0.1:8083/mqtt, tcp://127.0.0.1:1883, or wss:// or tls://. Required.',
  },
  door: {
    value: 'node|gateway',
    help: 'Binary frames, or the text frames of the gateway door. Default: what the broker answers to.',
  },
  generator: {
    value: 'artillery|fast',
    help: 'Artillery with mqtt.js, or our own for more load. Default: what the scenario says.',
  },
  seconds: { value: 'N', help: "How long messages are published. Default: the scenario's short time." },
  full: { value: undefined, help: 'At full size and for the whole published time.' },
  scale: {
    value: 'X',
    help: 'Share of the published number of clients, above 0 to 1. Default: 1 for the basic set, otherwise what this machine allows.',
  },
  processes: { value: 'N', help: 'Processes of the fast generator. Default: one for each core.' },
  'connects-per-second': { value: 'N', help: "New connections a second. Default: the scenario's." },
  'mqtt-version': { value: '3.1.1|5', help: "Version of MQTT. Default: the scenario's." },
  username: { value: 'NAME', help: 'User name of every client.' },
  password: { value: 'PASSWORD', help: 'Its password; the environment variable APUS_PASSWORD is safer.' },
  token: {
    value: 'TOKEN',
    help: 'Token for the gateway door; the environment variable APUS_TOKEN is safer.',
  },
  confirm: {
    value: 'HOST',
    help: 'The host of a target that is not this machine, once more: yes, that is the one to load.',
  },
  counters: {
    value: 'URL',
    help: 'Where a local broker tells its counters (`apus serve --counters`). Default: asked for where `npm start` has it.',
  },
  part: { value: 'K/N', help: 'Runs the Kth of N parts of the scenario, for a load from several machines.' },
  'start-at': {
    value: 'TIME',
    help: 'When publishing begins, as 2027-01-31T12:00:00Z, the same for all parts.',
  },
  ledgers: { value: 'FOLDER', help: "Keeps what each process has counted; `report` adds several parts' up." },
  clock: {
    value: 'monotonic|wall',
    help: 'The clock that stamps messages: that of this machine, or one that several machines share. Default: monotonic; wall with --part.',
  },
  output: { value: 'FILE', help: 'Writes the report there as JSON too.' },
  json: { value: undefined, help: 'Prints the report as JSON.' },
  strict: {
    value: undefined,
    help: 'Exit code 1 when a message is lost or out of order, or a goal is missed.',
  },
  help: { value: undefined, help: 'Shows this text.' },
} as const satisfies Record<string, { readonly value: string | undefined; readonly help: string }>;

export type FlagName = keyof typeof FLAGS;

/** The arguments of the command line. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #values: Readonly<Record<string, string | boolean | undefined>>;

  /** @throws {UsageError} for a flag that is unknown or lacks its value */
  constructor(args: readonly string[]) {
    const options = Object.fromEntries(
      Object.entries(FLAGS).map(([name, { value }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const) },
      ]),
    );
    try {
      const parsed = parseArgs({ args: [...args], options, allowPositionals: true });
      this.#values = parsed.values as Readonly<Record<string, string | boolean | undefined>>;
      this.positionals = parsed.positionals;
    } catch (error) {
      const [sentence = ''] = (error as Error).message.split(/\. |\n/, 1);
      throw new UsageError(`${sentence.replace(/\.$/, '')}.`);
    }
  }

  isSet(name: FlagName): boolean {
    return this.#values[name] !== undefined;
  }

  text(name: FlagName): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  number(name: FlagName, least: number, most: number): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() !== '' && number >= least && number <= most) return number;
    throw new UsageError(
      `--${name} takes a number from ${numberText(least)} to ${numberText(most)}, not "${text}".`,
    );
  }

  whole(name: FlagName, least: number, most: number): number | undefined {
    const number = this.number(name, least, most);
    if (number === undefined || Number.isInteger(number)) return number;
    throw new UsageError(`--${name} takes a whole number, not "${number}".`);
  }

  oneOf<T extends string>(name: FlagName, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const choice = choices.find((each) => each === text);
    if (choice !== undefined) return choice;
    throw new UsageError(`--${name} is one of ${choices.join(', ')}, not "${text}".`);
  }
}

/** Without rounding: a minimum of 0.000001 is not 0. */
function numberText(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 21 });
}
