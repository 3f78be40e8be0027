/** What the suites of `test/` use of this package beside its exports. */
export * from '../src/management/error.ts';
export * from '../src/signature/signature-v4.ts';
export * from './support.ts';
