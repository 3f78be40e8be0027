/** What the suites of `test/` use of this package beside its exports. */
export * from '../src/commands/commands.ts';
export * from '../src/start-doors.ts';
export * from '../src/tenants-file.ts';
export * from './support/built.ts';
export * from './support/in-this-process.ts';
export * from './support/operator-services.ts';
