/** What the suites of `test/` use of this package beside its exports. */
export * from '../src/limits.ts';
export * from '../src/presence/presence.ts';
export * from '../src/queue/completed.ts';
export * from '../src/queue/decide.ts';
export * from '../src/queue/deduplication.ts';
export * from '../src/queue/forgotten.ts';
export * from '../src/queue/record-offer.ts';
export * from '../src/queue/records.ts';
export * from '../src/queue/types.ts';
export * from '../src/sessions/received.ts';
export * from '../src/streams/streams.ts';
export * from '../src/subscriptions/conflated-groups.ts';
export * from '../src/subscriptions/shape-registry.ts';
export * from '../src/table/keys.ts';
export * from '../src/table/meter.ts';
export * from '../src/table/table.ts';
export * from '../src/table/values.ts';
