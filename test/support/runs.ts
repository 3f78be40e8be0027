/** Of the runs that a property gets in CI, a developer's machine does one in this many. */
const SHARE = 10;

/**
 * How many runs a property gets: in CI as many as are named, elsewhere a tenth. The seed of a failure is in its message, so
 * that it comes again anywhere.
 */
export function runs(inCi: number): number {
  return process.env.CI === undefined ? Math.ceil(inCi / SHARE) : inCi;
}

/** How long, how many or how far apart: what CI takes, and a share of it elsewhere. */
export function sized<Size>(usual: Size, inCi: Size): Size {
  return process.env.CI === undefined ? usual : inCi;
}

/** Cases that repeat one another at another door, or in another size of window: in CI all, elsewhere the usual ones. */
export function cases<const Case>(
  usual: readonly [Case, ...Case[]],
  inCi: readonly Case[],
): readonly [Case, ...Case[]] {
  return process.env.CI === undefined ? usual : [...usual, ...inCi];
}
