/** True, false, or the reason why there is no result: a field is missing or of another type. */
export type Verdict = boolean | { readonly error: string };

/** What is wrong with an expression. */
export interface Problem {
  readonly problem: string;
}
