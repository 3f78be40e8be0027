import { plainLines } from '@apus/broker';
import { MissingPackageError } from '@apus/door';
import { ConfigurationError } from '@apus/identity';
import { StartError } from '@apus/node';
import manifest from '../package.json' with { type: 'json' };
import { type Command, CommandError } from './commands/command.ts';
import { COMMANDS } from './commands/commands.ts';
import { parseFlags, UsageError } from './commands/flags.ts';
import { helpOfFlags } from './commands/help.ts';

const HELP = { help: 'Shows this text.' };

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/**
 * Runs one command line of `apus`, and explains an error on standard error.
 *
 * @param args the words after `apus`
 * @returns the exit code
 */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  return await main(args).catch((error: unknown) => explain(error));
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version' || name === '-V') return say(manifest.version);
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return say(overview());
  const command = COMMANDS.find((candidate) => candidate.name === name);
  if (command === undefined) throw new UsageError(`There is no command "${name}".`);
  return runCommand(command, args).catch((error: unknown) => explain(error, `apus ${command.name} --help`));
}

async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  const values = parseFlags(
    Object.assign({}, ...Object.values(groupsOf(command))),
    args,
    command.spellings?.(args),
  );
  if (!values.isSet('help')) return command.run(values);
  const behind = args[args.indexOf('-h') + 1];
  if (args.includes('-h') && behind !== undefined && !behind.startsWith('-'))
    throw new UsageError(`-h is --help, and takes no "${behind}".`);
  return say(helpOf(command));
}

/** The flags of a command by their headings, with --help, which is -h unless the command has another -h. */
function groupsOf({ flags }: Command): Command['flags'] {
  const isTaken = Object.values(flags).some((group) =>
    Object.values(group).some(({ short }) => short === 'h'),
  );
  return { ...flags, Help: { help: isTaken ? HELP : { ...HELP, short: 'h' } } };
}

function say(text: string): number {
  console.log(text);
  return 0;
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  const commands = COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    'Apus: an MQTT 5 and 3.1.1 broker over WebSocket.',
    '',
    'Usage: apus COMMAND [FLAGS]',
    '',
    ...commands,
    '',
    '`apus COMMAND --help` shows the flags of a command; `apus --version` the version.',
  ].join('\n');
}

function helpOf(command: Command): string {
  const { name, summary, usage, description } = command;
  const parts = [`${summary}\n\nUsage: apus ${name} ${usage}`, description, helpOfFlags(groupsOf(command))];
  return parts.filter((part) => part !== '').join('\n\n');
}

function explain(error: unknown, help = 'apus --help'): number {
  if (error instanceof UsageError) {
    console.error(plainLines(`apus: ${error.message} See \`${help}\`.`));
    return EXIT_USAGE;
  }
  const explained = [CommandError, StartError, ConfigurationError, MissingPackageError];
  if (explained.some((kind) => error instanceof kind)) {
    console.error(plainLines(`apus: ${(error as Error).message}`));
    return EXIT_FAILURE;
  }
  // A bug: the report needs the whole error.
  console.error(error);
  return EXIT_FAILURE;
}
