import { readFileSync, writeFileSync } from 'node:fs';
import { CommandError } from '../src/cli/cli-error.ts';
import type { MachineInfo } from '../src/report/machine.ts';
import type { WiredCase } from './cases.ts';
import type { BenchOptions, Section } from './options.ts';
import type { Results } from './results.ts';
import type { Contender } from './rounds.ts';
import { tablesText } from './tables.ts';

export interface BenchFacts {
  readonly options: BenchOptions;
  readonly cases: readonly WiredCase[];
  readonly contenders: readonly Contender[];
  readonly results: Results;
  readonly machine: MachineInfo;
  readonly startedAt: Date;
  readonly rounds: number;
  readonly minutes: number;
  readonly args: readonly string[];
}

/** The command, the machine, the versions, and the tables. */
export function reportText(
  { options, cases, contenders, results, ...facts }: BenchFacts,
  isShort = false,
): string {
  const { machine, startedAt, rounds, minutes, args } = facts;
  const flags = args.filter((arg) => arg !== '--write');
  const command = ['npm run bench', ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
  const size = options.scale === 1 ? '' : `, at ${options.scale * 100}% of the clients named`;
  return [
    [
      `- Command: \`${command}\`, ${startedAt.toISOString().slice(0, 10)}, ${minutes.toFixed(0)} minutes.`,
      `- Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGigabytes} GB, ${machine.system}; brokers and generator on it together.`,
      `- Brokers: ${contenders.map(({ kind, prepared }) => `${kind.title} ${prepared.version} (${kind.language})`).join(', ')}.`,
      ...contenders.flatMap(({ prepared }) => (prepared.remark === undefined ? [] : `- ${prepared.remark}`)),
      `- ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${options.seconds} s of messages in each case${size}; ${options.processes} generator ${options.processes === 1 ? 'process' : 'processes'}.`,
    ].join('\n'),
    tablesText(
      results,
      cases,
      contenders.map(({ kind }) => kind),
      isShort,
    ),
  ].join('\n\n');
}

/**
 * Writes the report, of the tables only the ratios, between the marks of a section of the document. Returns the document's path.
 *
 * @throws {CommandError} if the marks are missing
 */
export function writeReport(path: string, section: Section, facts: BenchFacts): string {
  const [begin, end] = [`<!-- ${section}: begin -->`, `<!-- ${section}: end -->`];
  const text = readFileSync(path, 'utf8');
  const before = text.split(begin)[0];
  const after = text.split(end)[1];
  if (!text.includes(begin) || before === undefined || after === undefined)
    throw new CommandError(`${path} has no place for the tables: it needs the lines ${begin} and ${end}.`);
  writeFileSync(path, `${before}${begin}\n\n${reportText(facts, true)}\n\n${end}${after}`);
  return path;
}
