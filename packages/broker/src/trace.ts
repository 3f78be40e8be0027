import type { WithUserProperties } from '@apus/mqtt';

/** The header of W3C Trace Context: version, trace, parent and flags, in hexadecimal. */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * For the log: the trace that a message belongs to, where its publisher names one in the user property `traceparent`.
 * The property itself reaches subscribers as it is [MQTT-3.3.2-17].
 */
export function traceOf({ userProperties = [] }: WithUserProperties): {
  readonly traceparent?: string;
} {
  const [, traceparent] = userProperties.find(([name]) => name === 'traceparent') ?? [];
  return traceparent !== undefined && TRACEPARENT.test(traceparent) ? { traceparent } : {};
}
