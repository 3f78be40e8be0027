import { packetLength, ReasonCode, Violation } from '@apus/mqtt';

/** Enough for a frame's header (14 bytes) and the beginning of a CONNECT (fixed header, protocol name and version). */
export const OPENING_BYTES = 32;

const MASK_BYTES = 4;

/**
 * The violation of a client that has sent more than it may before its CONNECT was whole, told by the first bytes on
 * the wire: a client of MQTT 5.0 is answered.
 */
export function openingViolation(opening: Uint8Array, connectBytesMax: number): Violation {
  const payload = firstPayload(opening);
  const options = { maximumPacketSize: connectBytesMax, receiver: 'server' } as const;
  const length = packetLength(payload, 0, payload.length, options);
  if (length instanceof Violation) return length;
  return new Violation(
    ReasonCode.PacketTooLarge,
    `Before CONNECT a client sends at most ${connectBytesMax} bytes`,
  );
}

/** The beginning of the first frame's payload, unmasked (RFC 6455 section 5.3). */
function firstPayload(opening: Uint8Array): Uint8Array {
  const lengthCode = (opening[1] ?? 0) & 0x7f;
  const maskStart = lengthCode === 127 ? 10 : lengthCode === 126 ? 4 : 2;
  const mask = opening.subarray(maskStart, maskStart + MASK_BYTES);
  return opening
    .subarray(maskStart + MASK_BYTES)
    .map((byte, index) => byte ^ (mask[index % MASK_BYTES] ?? 0));
}
