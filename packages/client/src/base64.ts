/** The number of arguments of a call is limited in every engine; this is far below all of the limits. */
const CHUNK = 8_192;

/** Encodes base64 by RFC 4648, section 4: with padding, in one line. */
export function encodeBase64(bytes: Uint8Array): string {
  let characters = '';
  for (let from = 0; from < bytes.length; from += CHUNK)
    characters += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(characters);
}

/**
 * Decodes canonical base64 that begins at `from`; `undefined` for anything else. `atob` alone is too lenient: it
 * accepts white space, missing padding and surplus bits, which `btoa` does not write back.
 */
export function decodeBase64(text: string, from = 0): Uint8Array<ArrayBuffer> | undefined {
  const base64 = text.slice(from);
  try {
    const characters = atob(base64);
    if (btoa(characters) !== base64) return undefined;
    const bytes = new Uint8Array(characters.length);
    for (let index = 0; index < bytes.length; index += 1) bytes[index] = characters.charCodeAt(index);
    return bytes;
  } catch {
    return undefined;
  }
}

/** Encodes base64url (section 5) without padding, for names of subprotocols. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}
