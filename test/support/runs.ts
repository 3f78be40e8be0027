/** A developer's machine does one in this many of the runs that a property gets in CI. */
const SHARE = 10;

/**
 * How many runs a property gets: the given number in CI, a tenth elsewhere. The message of a failure contains its seed,
 * so that it can be repeated.
 */
export function runs(inCi: number): number {
  return process.env.CI === undefined ? Math.ceil(inCi / SHARE) : inCi;
}

/** A duration, count or distance: the full value in CI, and a share of it elsewhere. */
export function sized<Size>(usual: Size, inCi: Size): Size {
  return process.env.CI === undefined ? usual : inCi;
}

/** Cases that repeat one another at another door or window size: in CI all, elsewhere the usual ones. */
export function cases<const Case>(
  usual: readonly [Case, ...Case[]],
  inCi: readonly Case[],
): readonly [Case, ...Case[]] {
  return process.env.CI === undefined ? usual : [...usual, ...inCi];
}
