/** What the suites of `test/` use of this package beside its exports. */
export * from '../src/limits.ts';
export * from '../src/mover.ts';
export * from '../src/outbound.ts';
export * from '../src/outgoing-queue.ts';
export * from '../src/resume/sequence.ts';
export * from '../src/session-facts.ts';
