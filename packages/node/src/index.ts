export { DEFAULT_NODE_LIMITS, type NodeLimits } from './limits.ts';
export { LOG_LEVELS, type LogEntry, type LogLevel, type LogSink } from './log.ts';
export type { AllowedOrigins, NodeOptions } from './options.ts';
export type { Scheduler } from './scheduler.ts';
export { StartError } from './start-error.ts';
export { type RunningNode, startNode } from './start-node.ts';
