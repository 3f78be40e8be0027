/** An invalid step: the test does not start. The message names the step and its fields. */
export class StepError extends Error {
  override readonly name = 'StepError';
}

/**
 * A virtual user cannot go on. Artillery counts `code`: few different ones, without host names, so that a report stays
 * short; the message has the details.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
