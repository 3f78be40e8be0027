export * from './create-stores.ts';
export { defineTable, TTL_ATTRIBUTE } from './define-table.ts';
export * from './errors.ts';
export type { FilterEntries } from './matcher.ts';
export type { Units } from './meter.ts';
export type { DynamoOptions } from './options.ts';
export type { SubscriberEntry } from './subscriber-entry.ts';
export type { FramePlan } from './subscriptions.ts';
