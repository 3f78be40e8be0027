export type * from './broker.ts';
export { createBroker } from './create-broker.ts';
export { type Awaitable, type Flow, run, waitFor } from './flow.ts';
export { type BrokerLimits, type BrokerOptions, DEFAULT_LIMITS } from './limits.ts';
export type * from './link.ts';
export * from './message.ts';
export { MessageClock } from './message-clock.ts';
export * from './ports/index.ts';
export * from './session.ts';
