import { PropsError } from '../lib/props-error.ts';
import { SettingError } from '../lib/settings.ts';
import { CommandError } from './command-error.ts';

/** AWS's refusal as a sentence, without a stack trace, which does not help the owner; undefined for other errors. */
function sentenceOfAws(error: unknown): string | undefined {
  if (!(error instanceof Error && '$metadata' in error)) return undefined;
  return `AWS has refused: ${error.name}: ${error.message}`;
}

/** Runs a command, prints an error that the user can solve as one sentence, and sets the exit code. */
export async function main(command: (args: readonly string[]) => Promise<void>): Promise<void> {
  try {
    await command(process.argv.slice(2));
  } catch (error) {
    const isTheirs =
      error instanceof CommandError || error instanceof SettingError || error instanceof PropsError;
    console.error(isTheirs ? error.message : (sentenceOfAws(error) ?? error));
    process.exitCode = 1;
  }
}
