/** The broker refuses the operation; the message is a sentence. */
export class OperateError extends Error {
  override readonly name = 'OperateError';
  /** The code of the API's answer, for programs. */
  readonly code: string | undefined;

  constructor(
    message: string,
    { code, ...options }: ErrorOptions & { readonly code?: string | undefined } = {},
  ) {
    super(message, options);
    this.code = code;
  }
}
