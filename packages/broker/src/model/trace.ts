import type { WithUserProperties } from '@apus/mqtt';

/** The header of W3C Trace Context: version, trace, parent and flags, in hexadecimal. */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** W3C: a vendor may cut a longer one. */
const TRACESTATE_LENGTH_MAX = 512;
const TRACESTATE = /^[\x20-\x7e]+$/;
const SAMPLED = 1;
const ZEROS = /^0+$/;

/** The trace that a message belongs to. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the previous span. */
  readonly spanId: string;
  /** `tracestate` as it came. */
  readonly state?: string;
}

/**
 * For the log: the trace that the publisher names in the user property `traceparent`. Subscribers get the property
 * unchanged [MQTT-3.3.2-17].
 */
export function traceOf({ userProperties = [] }: WithUserProperties): {
  readonly traceparent?: string;
} {
  const traceparent = propertyOf(userProperties, 'traceparent');
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? { traceparent } : {};
}

/** The trace of a message if its publisher asks for recording: `traceparent` has the flag `sampled`. */
export function sampledTraceOf({ userProperties }: WithUserProperties): TraceContext | undefined {
  if (userProperties === undefined) return undefined;
  const [, traceId = '', spanId = '', flags = ''] =
    TRACEPARENT.exec(propertyOf(userProperties, 'traceparent') ?? '') ?? [];
  if ((Number.parseInt(flags, 16) & SAMPLED) === 0 || ZEROS.test(traceId) || ZEROS.test(spanId))
    return undefined;
  const state = propertyOf(userProperties, 'tracestate');
  const isWhole = state !== undefined && state.length <= TRACESTATE_LENGTH_MAX && TRACESTATE.test(state);
  return { traceId, spanId, ...(isWhole && { state }) };
}

function propertyOf(
  userProperties: readonly (readonly [string, string])[],
  name: string,
): string | undefined {
  return userProperties.find(([each]) => each === name)?.[1];
}
