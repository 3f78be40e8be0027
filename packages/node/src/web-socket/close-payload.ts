import { isUtf8 } from '@apus/mqtt';
import { FrameViolation } from './frame-violation.ts';

/** The codes reported for a close frame without a code, and for a missing close frame (RFC 6455 section 7.4.1). */
export const NO_STATUS = 1005;
export const ABNORMAL_CLOSURE = 1006;

const PROTOCOL_ERROR = 1002;
const INVALID_PAYLOAD = 1007;

/** The code of a client's close frame, or what is wrong with it. */
export function readClosePayload(payload: Uint8Array): number | FrameViolation {
  if (payload.length === 0) return NO_STATUS;
  if (payload.length === 1) return new FrameViolation(PROTOCOL_ERROR, 'A close code has two bytes');
  const code = ((payload[0] ?? 0) << 8) | (payload[1] ?? 0);
  if (!mayBeSent(code)) return new FrameViolation(PROTOCOL_ERROR, `The close code ${code} may not be sent`);
  if (!isUtf8(payload.subarray(2)))
    return new FrameViolation(INVALID_PAYLOAD, 'The reason of a close is not well-formed UTF-8');
  return code;
}

/** Codes of RFC 6455 and its registry; 3000 to 4999 are the applications' (section 7.4.2). */
function mayBeSent(code: number): boolean {
  if (code >= 3000) return code <= 4999;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_STATUS && code !== ABNORMAL_CLOSURE;
}
