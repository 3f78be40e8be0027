import { expect } from 'vitest';
import { decodePacket, type ProtocolVersion, type Role, Violation } from '../src/index.ts';

/** Expects the bytes of one packet to be refused with this reason code, and returns the refusal. */
export function refuses(
  reasonCode: number,
  bytes: Uint8Array,
  version: ProtocolVersion = 5,
  receiver: Role = 'server',
): Violation {
  const result = decodePacket(bytes, version, receiver);
  if (!(result instanceof Violation))
    throw new Error(`Taken, and was to be refused: ${JSON.stringify(result)}`);
  expect({ code: result.reasonCode, reason: result.reason }).toEqual({
    code: reasonCode,
    reason: result.reason,
  });
  expect(result.reason).not.toBe('');
  return result;
}

/** Expects the bytes of one packet to be taken, and returns the packet. */
export function takes(bytes: Uint8Array, version: ProtocolVersion = 5, receiver: Role = 'server') {
  const result = decodePacket(bytes, version, receiver);
  if (result instanceof Violation) throw new Error(`Refused, and was to be taken: ${result.reason}`);
  return result;
}
