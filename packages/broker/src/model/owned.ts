import type { PublishProperties, Will } from '@apus/mqtt';

/** Bytes that a view may keep alive beside its own: as a rule the header of its packet. */
const EXCESS_BYTES_MAX = 256;
const EXCESS_SHARE_MAX = 1 / 16;

/**
 * Bytes that may be stored. The codec returns views into everything that was read at once, and one view keeps all of
 * it in memory. Without a copy, a message of a few bytes could make the broker keep megabytes [SEC-MEMORY-5].
 */
export function owned(bytes: Uint8Array): Uint8Array {
  const excessBytes = bytes.buffer.byteLength - bytes.length;
  const isLean = excessBytes <= EXCESS_BYTES_MAX + bytes.length * EXCESS_SHARE_MAX;
  return isLean ? bytes : Uint8Array.prototype.slice.call(bytes);
}

/** `owned` for the only property that holds bytes. */
export function ownedProperties<T extends Pick<PublishProperties, 'correlationData'>>(properties: T): T {
  const { correlationData } = properties;
  return correlationData === undefined
    ? properties
    : { ...properties, correlationData: owned(correlationData) };
}

export function ownedWill(will: Will): Will {
  return { ...will, payload: owned(will.payload), properties: ownedProperties(will.properties) };
}
