/**
 * How long a client of the tests waits for an event before the test fails with its name. A passing test waits for a
 * delayed will at most. The limit only bounds a hang, so a busy machine may be slow; it is below the limit of a whole
 * test, whose message says less.
 */
export const PATIENCE_MS = 45_000;
