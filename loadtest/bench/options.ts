import { parseArgs } from 'node:util';
import { UsageError } from '../src/cli/cli-error.ts';
import type { BrokerKind } from './brokers/broker.ts';
import { BROKERS, NAMED_ONLY } from './brokers/index.ts';
import { CASES, type Case, HANDSHAKES_CASE } from './cases.ts';
import { SUITE } from './suite.ts';
import { WIRES, type WireName } from './wires.ts';

/** How the benchmark runs this time. */
export interface BenchOptions {
  readonly brokers: readonly BrokerKind[];
  /** Programs to use instead of the ones that would be installed, by the broker's name. */
  readonly programs: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
  /** Each case runs over each of them. */
  readonly wires: readonly WireName[];
  readonly rounds: number;
  /** How often each case goes round the brokers in a round. */
  readonly turns: number;
  /** How long messages are published in each case. */
  readonly seconds: number;
  /** No round begins that would end later, and no case begins after that time. */
  readonly minutesMax: number;
  readonly processes: number;
  readonly scale: number;
  /** The part of loadtest/results/benchmarks.md into which the ratios are written; undefined: none. */
  readonly section: Section | undefined;
  readonly json: string | undefined;
}

/** A run over other wires, or of the suite alone, leaves the main comparison as it is. */
export type Section = 'bench' | 'wires' | 'suite';

const ALL_CASES: readonly Case[] = [...CASES, HANDSHAKES_CASE, ...SUITE];

const FLAGS = {
  quick: { type: 'boolean' },
  brokers: { type: 'string' },
  mosquitto: { type: 'string' },
  before: { type: 'string' },
  cases: { type: 'string' },
  wires: { type: 'string' },
  rounds: { type: 'string' },
  turns: { type: 'string' },
  seconds: { type: 'string' },
  minutes: { type: 'string' },
  processes: { type: 'string' },
  write: { type: 'boolean' },
  json: { type: 'string' },
  help: { type: 'boolean' },
} as const;

export const HELP = `Compares Apus's node door with other brokers on this machine, in one run.

Usage: npm run bench -- [FLAGS]

  --quick            One round of Apus, Mosquitto and aedes, smaller and shorter: within 3 minutes.
  --brokers A,B      Of ${namesOf(BROKERS)}. Default: all that this machine can install.
  --mosquitto PATH   The Mosquitto to compare with. Default: the installed one, or Debian's package.
  --before PATH      Another build of Apus (its apus.js) to compare with, such as the one before a change.
  --cases A,B        Of ${namesOf(CASES)}. Default: all of these.
                     Also ${HANDSHAKES_CASE.name}, and of the Open MQTT Benchmark Suite, at the size for two cores,
                     ${namesOf(SUITE)}; suite: all eight.
  --wires A,B        Of ${namesOf(WIRES)}: each case over each of them. TLS needs openssl. Default: ws.
  --rounds N         Rounds, of which medians are taken. Default: 3.
  --turns N          How often each case goes round the brokers in a round: neighbours in time are compared. Default: 1.
  --seconds N        How long messages are published in each case. Default: 3.
  --minutes N        No round is begun that would end later, and no case after that time. Default: 15.
  --processes N      Processes of the generator. Default: one less than there are cores.
  --write            Writes the ratios into loadtest/results/benchmarks.md: where other wires, or the suite, have theirs.
  --json FILE        Writes every sample.

A missing broker is installed into loadtest/.bench when it is first asked for. Ctrl+C ends the run with the tables so
far, and no broker is left behind.`;

/**
 * Undefined: the help is wanted.
 * @throws {UsageError} for invalid options
 */
export function optionsFrom(args: readonly string[], cores: number): BenchOptions | undefined {
  const values = parsed(args);
  if (values.help === true) return undefined;
  const isQuick = values.quick === true;
  const { mosquitto, before } = values;
  const programs: Readonly<Record<string, string>> = {
    ...(mosquitto !== undefined && { mosquitto }),
    ...(before !== undefined && { before }),
  };
  const cases = casesFrom(values.cases);
  const wires = chosen('wires', values.wires ?? 'ws', WIRES).map(({ name }) => name);
  const names = values.brokers ?? (isQuick ? 'apus,mosquitto,aedes' : undefined);
  return {
    brokers: [
      ...chosen('brokers', names, BROKERS),
      ...NAMED_ONLY.filter(({ name }) => programs[name] !== undefined),
    ],
    programs,
    cases,
    wires,
    rounds: number('rounds', values.rounds, 1, 20) ?? (isQuick ? 1 : 3),
    turns: number('turns', values.turns, 1, 50) ?? 1,
    seconds: number('seconds', values.seconds, 0.5, 60) ?? (isQuick ? 1.5 : 3),
    minutesMax: number('minutes', values.minutes, 1, 240) ?? (isQuick ? 3 : 15),
    processes: number('processes', values.processes, 1, 16) ?? Math.max(1, cores - 1),
    scale: isQuick ? 0.5 : 1,
    section: values.write === true ? sectionOf(cases, wires) : undefined,
    json: values.json,
  };
}

function casesFrom(text: string | undefined): readonly Case[] {
  if (text === undefined) return CASES;
  const names = text.split(',').map((name) => (name.trim() === 'suite' ? namesOf(SUITE) : name));
  return chosen('cases', names.join(','), ALL_CASES);
}

function sectionOf(cases: readonly Case[], wires: readonly WireName[]): Section {
  if (cases.every((each) => SUITE.includes(each))) return 'suite';
  return wires.some((wire) => wire !== 'ws') ? 'wires' : 'bench';
}

function namesOf(all: readonly { readonly name: string }[]): string {
  return all.map(({ name }) => name).join(', ');
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS }).values;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

function chosen<T extends { readonly name: string }>(
  flag: string,
  text: string | undefined,
  all: readonly T[],
): readonly T[] {
  if (text === undefined) return all;
  return text.split(',').map((name) => {
    const found = all.find((each) => each.name === name.trim());
    if (found !== undefined) return found;
    throw new UsageError(
      `--${flag} takes names of ${namesOf(all)}, with commas between them; not "${name}".`,
    );
  });
}

function number(flag: string, text: string | undefined, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new UsageError(`--${flag} takes a number from ${least} to ${most}, not "${text}".`);
}
