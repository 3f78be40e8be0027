import type { PublishProperties, Will } from '@apus/mqtt';

/** Bytes may keep this many alive of those that were read with them: the header of their packet, as a rule. */
const EXCESS_BYTES_MAX = 256;
const EXCESS_SHARE_MAX = 1 / 16;

/**
 * Bytes that may be kept. The codec hands out views of all that was read at once, which stays in memory as long as one
 * of them does: a client could have megabytes kept by a message of a few bytes [SEC-MEMORY-5].
 */
export function owned(bytes: Uint8Array): Uint8Array {
  const excessBytes = bytes.buffer.byteLength - bytes.length;
  const isLean = excessBytes <= EXCESS_BYTES_MAX + bytes.length * EXCESS_SHARE_MAX;
  return isLean ? bytes : Uint8Array.prototype.slice.call(bytes);
}

/** The same of the only property that is bytes. */
export function ownedProperties<T extends Pick<PublishProperties, 'correlationData'>>(properties: T): T {
  const { correlationData } = properties;
  return correlationData === undefined
    ? properties
    : { ...properties, correlationData: owned(correlationData) };
}

export function ownedWill(will: Will): Will {
  return { ...will, payload: owned(will.payload), properties: ownedProperties(will.properties) };
}
