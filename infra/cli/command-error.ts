/** A problem that the user can understand and solve: the command prints its message and exits with code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
