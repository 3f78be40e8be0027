const BYTES_PER_ROW = 16;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Rows of an address, sixteen bytes and their ASCII, as `hexdump -C` prints them. */
export function hexDump(bytes: Uint8Array, bytesMax: number): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, bytesMax); at += BYTES_PER_ROW) {
    rows.push(rowText(at, bytes.subarray(at, Math.min(at + BYTES_PER_ROW, bytesMax))));
  }
  return rows.join('\n');
}

function rowText(at: number, row: Uint8Array): string {
  let digits = '';
  let characters = '';
  for (const [index, byte] of row.entries()) {
    digits += `${index === 0 ? '' : index === BYTES_PER_ROW / 2 ? '  ' : ' '}${HEX[byte]}`;
    characters += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.';
  }
  return `${at.toString(16).padStart(8, '0')}  ${digits.padEnd(BYTES_PER_ROW * 3)}  ${characters}`;
}
