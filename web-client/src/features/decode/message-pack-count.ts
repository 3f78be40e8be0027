import { ValueCount } from './value.ts';

/** Bytes after the first one of a value: of a number, or of its length (0xc0 to 0xdf). */
const SIZES = [
  0, 0, 0, 0, 1, 2, 4, 1, 2, 4, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17, 1, 2, 4, 2, 4, 2, 4,
];

/**
 * Counts the values in the first one before they are made, as the library has no limit for all of them together.
 * @throws {LimitError}
 */
export function countMessagePack(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values = new ValueCount();
  let at = 0;
  // A value has at least a byte: a claim of more is for the library to refuse.
  for (let left = 1; left > 0 && left <= bytes.length - at; left -= 1) {
    values.add();
    const first = view.getUint8(at);
    at += 1;
    if (first >= 0x80 && first < 0x90) left += (first & 0xf) * 2;
    else if (first >= 0x90 && first < 0xa0) left += first & 0xf;
    else if (first >= 0xa0 && first < 0xc0) at += first & 0x1f;
    if (first < 0xc0 || first >= 0xe0) continue;
    const size = SIZES[first - 0xc0] ?? 0;
    if (size > bytes.length - at) return;
    const length = [0, () => view.getUint8(at), () => view.getUint16(at), 0, () => view.getUint32(at)][size];
    const claimed = typeof length === 'function' ? length() : 0;
    at += size;
    if (first === 0xdc || first === 0xdd) left += claimed;
    else if (first >= 0xde) left += claimed * 2;
    else if ((first >= 0xc4 && first <= 0xc9) || first >= 0xd9)
      at += claimed + (first >= 0xc7 && first <= 0xc9 ? 1 : 0);
  }
}
