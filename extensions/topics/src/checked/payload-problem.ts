import { CHECKED_BYTES_MAX, REASON_LENGTH_MAX } from '../limits.ts';

/** A compiled schema: Ajv makes it, in this process or in a file. */
export interface PayloadValidator {
  (value: unknown): unknown;
  errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null;
}

/** Why the payload does not fit the schema, such as `/celsius must be number`; undefined if it fits. */
export function problemOf(isValid: PayloadValidator, payload: Uint8Array): string | undefined {
  if (payload.length > CHECKED_BYTES_MAX)
    return `a payload that is checked has at most ${CHECKED_BYTES_MAX} bytes`;
  let value: unknown;
  try {
    value = JSON.parse(TEXT.decode(payload));
  } catch {
    return 'the payload is not JSON';
  }
  try {
    if (isValid(value)) return undefined;
  } catch {
    // The payload is nested too deeply: the check has run out of stack.
    return 'the payload cannot be checked';
  }
  const [first] = isValid.errors ?? [];
  const where = first?.instancePath === '' ? 'the payload' : first?.instancePath;
  return plain(`${where} ${first?.message ?? 'does not match its schema'}`);
}

const TEXT = new TextDecoder('utf-8', { fatal: true });

/**
 * The publisher chooses the names in a path. A string of MQTT must not contain control characters or lone surrogates
 * [MQTT-1.5.4-1].
 */
function plain(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).replaceAll(/[^\x20-\x7e]/g, '?');
}
