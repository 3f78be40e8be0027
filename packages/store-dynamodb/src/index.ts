export * from './create-stores.ts';
export { defineTable, TTL_ATTRIBUTE } from './define-table.ts';
export * from './errors.ts';
export { decodeMessage, encodeMessage } from './message-blob.ts';
export type { Units } from './meter.ts';
export type { DynamoOptions } from './options.ts';
export type { SubscriberEntry } from './subscriber-entry.ts';
export type { FramePlan } from './subscriptions.ts';
