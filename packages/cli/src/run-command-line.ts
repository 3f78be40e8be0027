import { ConfigurationError } from '@apus/identity';
import { StartError } from '@apus/node';
import manifest from '../package.json' with { type: 'json' };
import { type Command, CommandError } from './commands/command.ts';
import { COMMANDS } from './commands/commands.ts';
import { parseFlags, UsageError } from './commands/flags.ts';
import { helpOfFlags } from './commands/help.ts';

const HELP = { help: { short: 'h', help: 'Shows this text.' } };

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
  const values = parseFlags(Object.assign({}, HELP, ...Object.values(command.flags)), args);
  return values.isSet('help') ? say(helpOf(command)) : command.run(values);
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

function helpOf({ name, summary, usage, description, flags }: Command): string {
  const parts = [
    `${summary}\n\nUsage: apus ${name} ${usage}`,
    description,
    helpOfFlags({ ...flags, Help: HELP }),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function explain(error: unknown, help = 'apus --help'): number {
  if (error instanceof UsageError) {
    console.error(`apus: ${error.message} See \`${help}\`.`);
    return EXIT_USAGE;
  }
  if ([CommandError, StartError, ConfigurationError].some((kind) => error instanceof kind)) {
    console.error(`apus: ${(error as Error).message}`);
    return EXIT_FAILURE;
  }
  // A bug: the report needs the whole error.
  console.error(error);
  return EXIT_FAILURE;
}
