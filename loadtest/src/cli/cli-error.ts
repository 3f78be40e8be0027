/** The command does not accept this command line: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A problem that the user can understand and solve: the command prints its message and exits with code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
