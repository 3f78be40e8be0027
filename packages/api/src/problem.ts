import { UsageQuestionError } from '@apus/broker';
import { BanEntryError } from '@apus/identity';

/** The status of each code. A code is for programs. */
export const PROBLEM_STATUSES = {
  BAD_REQUEST: 400,
  ALREADY_EXISTS: 400,
  TOO_MANY: 400,
  BAD_API_KEY_OR_SECRET: 401,
  BAD_TOKEN: 401,
  API_CLOSED: 403,
  NOT_LOCAL: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CLIENTID_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  POSITION_LOST: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  TOO_MANY_REQUESTS: 429,
  INTERNAL_ERROR: 500,
  NOT_SUPPORTED: 501,
  NOT_SENT: 502,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEM_STATUSES;

export const PROBLEM_CODES = Object.keys(PROBLEM_STATUSES) as readonly ProblemCode[];

/** The reason why a request is not answered. The message is a sentence for its sender. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The problem that an error of a handler tells. Undefined: it is a defect, or comes from the infrastructure. */
export function problemOf(error: unknown): ApiProblem | undefined {
  if (error instanceof ApiProblem) return error;
  const isOfRequest = error instanceof UsageQuestionError || error instanceof BanEntryError;
  return isOfRequest ? new ApiProblem('BAD_REQUEST', error.message) : undefined;
}
