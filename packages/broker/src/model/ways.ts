/**
 * The ways in: where a caller shows a credential. Each asks for its identity, for revocations and bans, for its tenant
 * and for its rules, as docs/security/ways.md says [SEC-WAY-3].
 */
export const WAYS_IN = [
  'handshake',
  'CONNECT',
  'AUTH',
  'move',
  'resume',
  'HTTP API',
  'document',
  'event stream',
  'portal',
  'publish URL',
  'operators’ URL',
] as const;

/** The ways out: how a message leaves, and whose rights are asked when it does [SEC-WAY-4]. */
export const WAYS_OUT = [
  'live',
  'queue',
  'retained',
  'history',
  'conflated',
  'will',
  'delayed',
  'rule',
  'bridge',
] as const;

export type WayIn = (typeof WAYS_IN)[number];
export type WayOut = (typeof WAYS_OUT)[number];
