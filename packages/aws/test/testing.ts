/** What the suites of `test/` use of this package beside its exports. */
export * from '../src/api/figures.ts';
export * from '../src/frames/text-frame.ts';
export * from '../src/lambda/metered-log.ts';
export * from '../src/posts/gathered-posts.ts';
export * from '../src/rules/rule-outlet.ts';
export * from '../src/sweep/sweep.ts';
export * from '../src/timers/sqs-timers.ts';
export * from '../src/usage/export/export-usage.ts';
export { type Hooks, type Process, World } from './support/fan-out.ts';
export { PublishEndpoint } from './support/publish.ts';
export { alterStores, TimersWorld } from './support/timers-world.ts';
