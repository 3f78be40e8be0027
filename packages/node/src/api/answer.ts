/** The answer of a route. */
export interface ApiAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: the answer has no body. */
  readonly body?: object;
  /** In the place of `body`; its `Content-Type` is among the headers. */
  readonly text?: string;
}

/** A refusal as EMQX's API words it: a code for programs, a sentence for people. */
export function refusal(status: number, code: string, message: string): ApiAnswer {
  return { status, body: { code, message } };
}

export function badRequest(message: string): ApiAnswer {
  return refusal(400, 'BAD_REQUEST', message);
}
