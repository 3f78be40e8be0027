import type { ConnectionStatus, Traffic } from './types.ts';

export const NO_TRAFFIC: Traffic = {
  messagesIn: 0,
  messagesOut: 0,
  bytesIn: 0,
  bytesOut: 0,
  messagesInPerSecond: 0,
  messagesOutPerSecond: 0,
  bytesInPerSecond: 0,
  bytesOutPerSecond: 0,
  skipped: 0,
  dropped: 0,
  gateway: undefined,
};

/** The status of a connection that has not been opened yet. */
export const IDLE_STATUS: ConnectionStatus = {
  phase: 'idle',
  door: undefined,
  session: undefined,
  trouble: undefined,
  attempts: 0,
  retryAtMs: undefined,
  traffic: NO_TRAFFIC,
  subscriptions: {},
};
