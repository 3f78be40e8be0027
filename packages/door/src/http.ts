import { PROBLEM_STATUSES, type ProblemCode } from '@apus/api';

/** A request as the endpoint sees it, whichever server has read it. */
export interface HttpRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** Without its question mark. */
  readonly query?: string;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Made when it is first asked for, where that costs time. */
  readonly body: Uint8Array;
  /** IP address of the caller; empty where no handler asks for it. */
  readonly address?: string;
  /** The caller, if the platform in front has verified it. */
  readonly caller?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text; JSON, unless `content-type` says otherwise. */
  readonly body: string;
}

/** The error of a request as a whole: `{"code": …, "message": …}`, as EMQX says it. */
export function problem(
  code: ProblemCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return jsonAnswer(PROBLEM_STATUSES[code], { code, message }, headers);
}

/** A caller, or an address, has to wait. */
export function tooManyRequests(seconds: number): HttpAnswer {
  const message = `Too many requests; come again in ${seconds} s.`;
  return problem('TOO_MANY_REQUESTS', message, { 'retry-after': String(seconds) });
}

export function jsonAnswer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(value),
  };
}
