import type { Flags, Spellings, Values } from './flags.ts';

/** One command of `apus`. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text after `apus {name}`. */
  readonly usage: string;
  /** Shown below the usage: examples, and facts that the flags do not tell. */
  readonly description: string;
  /** Flags by the heading of the help. */
  readonly flags: Readonly<Record<string, Flags>>;
  /** Flags of another program that users type here, for a command line. */
  readonly spellings?: (args: readonly string[]) => Spellings;
  /** Returns the exit code. */
  run(values: Values): Promise<number>;
}

/** A problem that the user can understand and solve: the command prints its message and exits with code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
