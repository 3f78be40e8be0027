/** A step that is written wrong: the test does not start. The message names the step and its fields. */
export class StepError extends Error {
  override readonly name = 'StepError';
}

/**
 * A virtual user cannot go on. `code` is what Artillery counts: few different ones, without names of hosts, so that a
 * report stays short; the message says more.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
