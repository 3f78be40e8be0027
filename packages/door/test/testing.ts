/** What the suites of `test/` use of this package beside its exports. */
export * from './support/publish-packet.ts';
