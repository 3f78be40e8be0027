import type { Flags, Values } from './flags.ts';

/** One command of `apus`. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text after `apus {name}`. */
  readonly usage: string;
  /** Under the usage: examples, and facts that the flags do not tell. */
  readonly description: string;
  /** By heading of the help. */
  readonly flags: Readonly<Record<string, Flags>>;
  /** Returns the exit code. */
  run(values: Values): Promise<number>;
}

/** Something that the user can understand and change went wrong: its message, and exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
