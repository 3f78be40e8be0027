import { readFileSync, writeFileSync } from 'node:fs';
import { CommandError } from '../src/cli/cli-error.ts';
import type { MachineInfo } from '../src/report/machine.ts';
import type { BenchOptions } from './options.ts';
import type { Results } from './results.ts';
import type { Contender } from './rounds.ts';
import { tablesText } from './tables.ts';

export interface BenchFacts {
  readonly options: BenchOptions;
  readonly contenders: readonly Contender[];
  readonly results: Results;
  readonly machine: MachineInfo;
  readonly startedAt: Date;
  readonly rounds: number;
  readonly minutes: number;
  readonly args: readonly string[];
}

const BEGIN = '<!-- bench: begin -->';
const END = '<!-- bench: end -->';

/** The command, the machine, the versions, and the tables. */
export function reportText({ options, contenders, results, ...facts }: BenchFacts): string {
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
      options.cases,
      contenders.map(({ kind }) => kind),
    ),
  ].join('\n\n');
}

/**
 * Writes the report between the document's marks. Returns the document's path.
 *
 * @throws {CommandError} if the marks are missing
 */
export function writeReport(path: string, facts: BenchFacts): string {
  const text = readFileSync(path, 'utf8');
  const before = text.split(BEGIN)[0];
  const after = text.split(END)[1];
  if (!text.includes(BEGIN) || before === undefined || after === undefined)
    throw new CommandError(`${path} has no place for the tables: it needs the lines ${BEGIN} and ${END}.`);
  writeFileSync(path, `${before}${BEGIN}\n\n${reportText(facts)}\n\n${END}${after}`);
  return path;
}
