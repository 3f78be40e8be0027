/**
 * How long a client of the tests waits for something before the test fails with what it waited for; a passing test
 * waits for a delayed will at most. It only bounds a hang, so a machine that is busy with other tests may take its time;
 * it is below the limit of a whole test, which says less.
 */
export const PATIENCE_MS = 15_000;
