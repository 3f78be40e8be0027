/** The command does not accept this command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Something that the user can understand and change went wrong: its message, and exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
