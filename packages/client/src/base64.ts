/** Argument lists have a limit in every engine; this is far below all of them. */
const CHUNK = 8_192;

/** Base64 as RFC 4648, section 4, has it: with padding, in one line. */
export function encodeBase64(bytes: Uint8Array): string {
  let characters = '';
  for (let from = 0; from < bytes.length; from += CHUNK)
    characters += String.fromCharCode(...bytes.subarray(from, from + CHUNK));
  return btoa(characters);
}

/**
 * The bytes of canonical base64 that begins at `from`; `undefined` for anything else. `atob` takes white space, missing
 * padding and bits beyond the last byte, which do not come back from `btoa`.
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

/** The same for names: with the alphabet of section 5, and without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replace(/\+/g, '-').replace(/\//g, '_').replace(/=/g, '');
}
