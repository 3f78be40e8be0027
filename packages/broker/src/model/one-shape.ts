/** V8 keeps the hidden classes of its objects apart from those of `{}`, of which others may have used up all that V8 keeps. */
class OfOneShape {}

/**
 * A copy that shares its hidden class with all objects of the same keys in the same order, for an object that lives as
 * long as a connection.
 *
 * V8 of Node.js 20 gives each object of `{ ...given, added }` a hidden class of its own: 190 bytes, and a call of the
 * runtime for every property that is read (loadtest/results/performance.md). Later versions do so only once V8 has met
 * some 1,500 names of first properties, as in payloads of JSON.
 */
export function ofOneShape<T extends object>(given: T): T {
  return Object.assign(new OfOneShape(), given) as T;
}
