import { isUtf8 as isWellFormed } from 'node:buffer';

/** Whether the bytes are well-formed UTF-8, surrogates excluded. U+0000 is, so strings ask for that themselves. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isWellFormed(bytes);
}
