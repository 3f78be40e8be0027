import { PROBLEM_STATUSES, type ProblemCode, problemOf } from '@apus/api';

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
export function refusal(code: ProblemCode, message: string): ApiAnswer {
  return { status: PROBLEM_STATUSES[code], body: { code, message } };
}

/** @throws the error itself where it is a defect */
export function refusalFor(error: unknown): ApiAnswer {
  const problem = problemOf(error);
  if (problem === undefined) throw error;
  return refusal(problem.code, problem.message);
}
