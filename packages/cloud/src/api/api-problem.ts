import type { ProblemCode } from '../publish/http.ts';

/** Why a request is not answered. The message is a sentence for its sender. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}
