/** What the suites of `test/` use of this package beside its exports. */
export * from './support/fake-scheduler.ts';
export * from './support/otlp-receiver.ts';
